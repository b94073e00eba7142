"""Records CUDA graphs whose dependencies are known, to score links with. Needs an NVIDIA GPU, PyTorch and CuPy.

    python benchmarks/record_graphs.py OUT_DIR [--seed N] [--only NAME,...]

For each program it writes NAME.json.gz (the profiler's trace of `REPLAYS` replays), NAME.truth.json (the nodes and
what each waits for, by the rules of stream capture) and NAME.dot.gz (the driver's own dump). The kernel's name holds
the node's number, so that a node is found in a trace again. The dump's edges are checked against the rules.

Programs: `llm` layers with side branches, copies and a collective's place holder; `rand` random streams, waits and
joins; `fork` wide forks of equal branches. Work: `spin` (one block that spins a set time), `crowd` (spins over 1 to
1,056 blocks that compete for multiprocessors) and `real` (memory, arithmetic, reduction, tiled matrix product).
"""

from __future__ import annotations

import argparse
import ctypes
import gzip
import json  # noqa: TID251 - runs beside PyTorch, without the package's own needs
import random
import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

REPLAYS = 7
COPY_BASE = 1 << 20
NAMES = (
    "rms_norm",
    "gemm_bf16",
    "topk_softmax",
    "router_gate",
    "moe_up",
    "moe_down",
    "add3",
    "quant_fp8",
    "mla_decode",
    "attn_res",
    "embed",
)
BLOCKS = (1, 16, 66, 132, 264, 528, 1056)

BODIES = r"""
#define SPIN(name) extern "C" __global__ void name(float*, const float*, int, long long ns) { \
  long long t0; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0)); long long t = t0; \
  while (t - t0 < ns) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); }
#define MEM(name) extern "C" __global__ void name(float* o, const float* a, int n, long long) { \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) o[i] = a[i] * 1.5f + 1.f; }
#define FMA(name) extern "C" __global__ void name(float* o, const float* a, int n, long long) { \
  float x = a[threadIdx.x]; for (int i = 0; i < n; i++) x = fmaf(x, 1.0001f, 0.5f); \
  o[blockIdx.x * blockDim.x + threadIdx.x] = x; }
#define RED(name) extern "C" __global__ void name(float* o, const float* a, int n, long long) { \
  __shared__ float s[256]; float x = 0; \
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) x += a[i]; \
  s[threadIdx.x] = x; __syncthreads(); \
  for (int k = 128; k; k >>= 1) { if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k]; __syncthreads(); } \
  if (!threadIdx.x) o[blockIdx.x] = s[0]; }
#define MAT(name) extern "C" __global__ void name(float* o, const float* a, int n, long long) { \
  __shared__ float p[64][65], q[64][65]; float acc[16] = {}; int tx = threadIdx.x % 16, ty = threadIdx.x / 16; \
  for (int k = 0; k < n; k++) { \
    for (int i = threadIdx.x; i < 4096; i += 256) { p[i / 64][i % 64] = a[i + k * 64]; q[i / 64][i % 64] = a[i + k]; } \
    __syncthreads(); \
    for (int j = 0; j < 64; j++) for (int i = 0; i < 16; i++) \
      acc[i] += p[ty * 4 + i / 4][j] * q[j][tx * 4 + i % 4]; \
    __syncthreads(); } \
  float s = 0; for (int i = 0; i < 16; i++) s += acc[i]; o[blockIdx.x * 256 + threadIdx.x] = s; }
"""


@dataclass
class Node:
    """One captured node: what it runs, where, and what it waits for."""

    id: int
    kind: str
    name: str
    stream: str
    deps: list[int]
    body: str = ""
    blocks: int = 1
    size: int = 0
    ns: int = 0


@dataclass
class Program:
    """Streams of work with waits, as capture sees them."""

    name: str
    work: str
    rng: random.Random
    nodes: list[Node] = field(default_factory=list)
    script: list[tuple[str, str, int]] = field(default_factory=list)
    """("op", stream, node), ("wait", stream, node): the stream waits for the node."""
    tail: dict[str, list[int]] = field(default_factory=dict)

    def op(self, stream: str, name: str, *, copy: bool = False, blocks: int | None = None) -> int:
        """Records a kernel or a copy on a stream; returns the node."""
        i, rng = len(self.nodes), self.rng
        node = Node(i, "memcpy" if copy else "kernel", name, stream, self.tail.get(stream, []))
        if not copy:
            node.blocks = blocks or (1 if self.work == "spin" else rng.choice(BLOCKS))
            node.ns = rng.randrange(2000, 16000)
            node.body = "SPIN" if self.work != "real" else rng.choice(("MEM", "FMA", "RED", "MAT"))
            node.size = {
                "MEM": rng.randrange(1, 24) << 18,
                "RED": rng.randrange(1, 24) << 18,
                "FMA": 4000,
                "MAT": 6,
            }.get(node.body, 0)
            node.name = f"n{i}_{name}_{node.body.lower()}"
        self.nodes.append(node)
        self.tail[stream] = [i]
        self.script.append(("op", stream, i))
        return i

    def wait(self, stream: str, other: str) -> None:
        """Makes a stream wait for what another stream has recorded so far."""
        mine = self.tail.setdefault(stream, [])
        self.tail[stream] = mine + [d for d in self.tail[other] if d not in mine]
        self.script.extend(("wait", stream, d) for d in self.tail[other])


def llm(work: str, seed: int, layers: int, *, side_first: bool) -> Program:
    """Decoder layers: a gate beside the shared expert, weight copies ahead, a collective on its own stream."""
    p = Program(f"h_{work}_llm{seed}", work, random.Random(seed))
    shape = {name: p.rng.choice(BLOCKS) for name in (*NAMES, "shared_up", "shared_down", "all_reduce", "rope", "head")}

    def run(stream: str, name: str) -> int:
        return p.op(stream, name, blocks=None if work == "spin" else shape[name])

    run("main", "embed")
    p.wait("copy", "main")
    p.op("copy", "weights", copy=True)
    for layer in range(layers):
        run("main", "rms_norm")
        run("main", "gemm_bf16")
        if layer % 2:
            p.wait("kv", "main")
            run("kv", "quant_fp8")
        run("main", "rope")
        run("main", "mla_decode")
        if layer % 2:
            p.wait("main", "kv")
        run("main", "attn_res")
        p.wait("comm", "main")
        run("comm", "all_reduce")
        p.wait("main", "comm")
        run("main", "rms_norm")
        p.wait("alt", "main")
        for stream in ("alt", "main") if side_first else ("main", "alt"):
            if stream == "alt":
                run("alt", "shared_up")
                run("alt", "shared_down")
            else:
                run("main", "router_gate")
                run("main", "topk_softmax")
        p.wait("main", "copy")
        run("main", "moe_up")
        p.wait("copy", "main")
        p.op("copy", "weights", copy=True)
        run("main", "moe_down")
        p.wait("main", "alt")
        run("main", "add3")
    p.wait("main", "copy")
    run("main", "head")
    return p


def rand(work: str, seed: int, steps: int) -> Program:
    """Random streams that fork, wait for one another and join at the end."""
    rng = random.Random(seed)
    p = Program(f"h_{work}_rand{seed}", work, rng)
    p.op("main", "embed")
    streams = ["main"]
    lanes = rng.randrange(2, 7)
    for _ in range(steps):
        stream = rng.choice(["main", *(f"s{i}" for i in range(lanes))])
        if stream not in streams:
            p.wait(stream, rng.choice(streams))
            streams.append(stream)
        elif rng.random() < 0.18 and len(streams) > 1:
            p.wait(stream, rng.choice([s for s in streams if s != stream]))
        for _ in range(rng.randrange(1, 4)):
            p.op(stream, rng.choice(NAMES))
    for stream in streams[1:]:
        p.wait("main", stream)
    p.op("main", "head")
    return p


def fork(work: str, seed: int, rounds: int, width: int) -> Program:
    """Rounds of equal branches, each of two or three ops, all joined."""
    rng = random.Random(seed)
    p = Program(f"h_{work}_fork{seed}", work, rng)
    p.op("main", "embed")
    shape = {(b, k): rng.choice(BLOCKS) for b in range(width) for k in range(3)}
    for _ in range(rounds):
        p.op("main", "rms_norm")
        for b in range(1, width):
            p.wait(f"b{b}", "main")
        for b in range(width):
            for k in range(2 + b % 2):
                stream = f"b{b}" if b else "main"
                p.op(stream, NAMES[(b * 3 + k) % len(NAMES)], blocks=None if work == "spin" else shape[b, k])
        for b in range(1, width):
            p.wait("main", f"b{b}")
        p.op("main", "add3")
    return p


def programs(seed: int) -> list[Program]:
    """Returns the programs of a seed: other seeds give other shapes, lengths, waits and joins."""
    works = ("spin", "crowd", "real", "real")
    random_works = ("spin", "spin", "crowd", "crowd", "real", "real", "real")
    return [
        *(llm(work, seed + i, 20, side_first=(seed + i) % 2 == 0) for i, work in enumerate(works, 1)),
        *(rand(work, seed + i, 150) for i, work in enumerate(random_works, 70)),
        *(fork(work, seed + i, 10, 3 + (seed + i) % 3) for i, work in enumerate(("spin", "crowd", "real"), 80)),
    ]


def record(program: Program, out: Path) -> None:
    """Captures a program, replays it under the profiler and writes the three files."""
    import cupy
    import torch

    kernels = [node for node in program.nodes if node.kind == "kernel"]
    source = BODIES + "\n".join(f"{node.body}({node.name})" for node in kernels)
    module = cupy.RawModule(code=source, options=("--std=c++17",))
    functions = {node.id: module.get_function(node.name) for node in kernels}
    data = torch.rand(32 << 20, device="cuda")
    results = {stream: torch.empty(32 << 20, device="cuda") for stream in program.tail}
    streams = {stream: torch.cuda.Stream() for stream in program.tail}
    events: dict[int, torch.cuda.Event] = {}

    def issue() -> None:
        for what, stream, i in program.script:
            if what == "wait":
                streams[stream].wait_event(events[i])
                continue
            node = program.nodes[i]
            with torch.cuda.stream(streams[stream]), cupy.cuda.ExternalStream(streams[stream].cuda_stream):
                if node.kind == "memcpy":
                    count = (COPY_BASE + 256 * i) // 4
                    results[stream][:count].copy_(data[:count])
                else:
                    args = (results[stream].data_ptr(), data.data_ptr(), cupy.int32(node.size), cupy.int64(node.ns))
                    block = 32 if node.body == "SPIN" and program.work == "spin" else 256
                    functions[i]((node.blocks,), (block,), args)
                events[i] = torch.cuda.Event()
                events[i].record(streams[stream])

    issue()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    graph.enable_debug_mode()
    with torch.cuda.graph(graph, stream=streams["main"], capture_error_mode="relaxed"):
        issue()
    with tempfile.TemporaryDirectory() as folder:
        dump = Path(folder) / "graph.dot"
        runtime = ctypes.CDLL("libcudart.so.13")
        runtime.cudaGraphDebugDotPrint(ctypes.c_void_p(graph.raw_cuda_graph()), str(dump).encode(), ctypes.c_uint(1))
        text = dump.read_text()
    edges = len(set(re.findall(r'"(graph_\d+_node_\d+)" *-> *"(graph_\d+_node_\d+)"', text)))
    wanted = sum(len(set(node.deps)) for node in program.nodes)
    (out / f"{program.name}.dot.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))
    graph.instantiate()
    for _ in range(2):
        graph.replay()
        torch.cuda.synchronize()
    with torch.profiler.profile(activities=list(torch.profiler.supported_activities())) as profile:
        for i in range(REPLAYS):
            with torch.profiler.record_function(f"step[DECODE {i}]"):
                graph.replay()
            torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        (out / f"{program.name}.json.gz").write_bytes(gzip.compress(path.read_bytes(), 9, mtime=0))
    nodes = [{"id": n.id, "kind": n.kind, "name": n.name, "stream": n.stream, "deps": n.deps} for n in program.nodes]
    truth = {"case": program.name, "nodes": nodes, "copy_base": COPY_BASE, "ids": "name", "edges": [wanted, edges]}
    (out / f"{program.name}.truth.json").write_text(json.dumps(truth))
    print(program.name, len(nodes), "nodes", wanted, "edges by the rules,", edges, "in the dump", flush=True)


def main() -> None:
    """Records the programs asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="", help="names, comma-separated")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    only = {name for name in options.only.split(",") if name}
    for program in programs(options.seed):
        if not only or program.name in only:
            try:
                record(program, options.out)
            except Exception as error:  # one program that fails must not lose the others
                print(program.name, "failed:", repr(error), flush=True)


if __name__ == "__main__":
    main()
