"""Record profiler traces of a decode step under CUDA Graphs, on any machine with PyTorch and one CUDA GPU.

    python record.py --out DIR [--only small|large] [--windows N]

The program is a mixture-of-experts decoder with random weights. What it computes is of no use; that it does
so with the kernels, streams and events of a serving engine is the point. Three streams spell dependencies:

* main    attention and routed experts of layer after layer
* side    copies of the next layer's weights from pinned host memory into one of two slots, beside this layer
* alt     router gate beside the down projection; shared expert beside the routed experts

Side work is issued before main work at every fork, as serving engines do. A captured graph keeps only the
dependencies, and the driver then lays the replay out on streams of its own. The profiled window holds one
eager prefill step and several decode replays. The trace is written by the profiler and packed as it is.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile, record_function

try:
    from triton_ops import Ops
except ImportError:
    from torch_ops import Ops  # type: ignore[assignment]

BATCH = 24
CONTEXT = 24576
PREFILL = 64
VOCAB = 32768
HIDDEN = 2048
HEADS = 16
HEAD = 64
LATENT = 512
ROPE = 64
SPARSE = 1024
EXPERTS = 128
TOP_K = 8
EXPERT = 1024
SHARED = 256
DEPTH = 4
POOL = 4
"""Layers share caches, experts and host weights in turn, so that any number of layers fits an 8 GB card."""

STREAMED = (
    (HEADS * (HEAD + ROPE), LATENT),  # query up projection
    (HEADS, HEAD, LATENT),  # key absorption
    (HEADS, LATENT, HEAD),  # value absorption
    (HIDDEN, HEADS * HEAD),  # output projection
    (EXPERTS, HIDDEN),  # router
    (SHARED * 2, HIDDEN),  # shared expert up
    (HIDDEN, SHARED),  # shared expert down
)
NORMS = (HIDDEN, HIDDEN, LATENT, LATENT, HEAD + ROPE, HIDDEN, HIDDEN, SPARSE)


@dataclass(frozen=True)
class Size:
    """What one recording holds; `prefill_layers` is small because an eager op costs the file several rows."""

    layers: int
    replays: int
    prefill_layers: int


SIZES = {
    "small": Size(layers=8, replays=7, prefill_layers=2),
    "large": Size(layers=96, replays=7, prefill_layers=3),
}


@dataclass
class Resident:
    """Weights that stay on the GPU; int8 experts with one scale per output column."""

    qkv_down: torch.Tensor
    gate: torch.Tensor
    into: torch.Tensor
    back: torch.Tensor
    up: torch.Tensor
    up_scales: torch.Tensor
    down: torch.Tensor
    down_scales: torch.Tensor


@dataclass
class Slot:
    """Staging space for one layer's streamed weights."""

    weights: list[torch.Tensor]
    norms: torch.Tensor


class Decoder:
    """A decoder with random weights; `forward` works the same eagerly and under capture.

    Invariants: layer i reads slot i % 2; layer i + 1's copies are issued before layer i's kernels and wait
    for layer i - 1, the last reader of their slot. What two streams share stays referenced until they have
    joined, so that the allocator, which knows one stream a tensor, cannot hand the memory out too early.
    """

    def __init__(self, device: torch.device) -> None:
        """Draw all weights and fill the caches with random context.

        Args:
            device: The CUDA device to live on.
        """
        self.device = device
        self.side = torch.cuda.Stream(device)
        self.alt = torch.cuda.Stream(device)
        self.table = self._random(VOCAB, HIDDEN, scale=1.0)
        self.head = self._random(VOCAB, HIDDEN)
        self.final = self._random(HIDDEN)
        self.host = [[self._random(*shape).cpu().pin_memory() for shape in STREAMED] for _ in range(POOL)]
        self.norms = [1 + self._random(sum(NORMS)) for _ in range(POOL)]
        self.caches = [self._random(BATCH, CONTEXT, LATENT + ROPE, scale=0.5) for _ in range(POOL)]
        self.resident = [self._draw_resident() for _ in range(POOL)]
        self.slots = [
            Slot(
                [torch.empty(shape, dtype=torch.bfloat16, device=device) for shape in STREAMED],
                self.norms[0].clone(),
            )
            for _ in range(2)
        ]

    def forward(self, ids: torch.Tensor, positions: torch.Tensor, layers: int) -> torch.Tensor:
        """Run one step and join all streams.

        Args:
            ids: Token ids, [BATCH * n], a sequence's n tokens side by side; n above 1 makes it a prefill.
            positions: Cache position of each token, [BATCH * n].
            layers: How many layers to run.

        Returns:
            The logits of each sequence's last token, [BATCH, VOCAB].
        """
        main = torch.cuda.current_stream()
        # Events are made anew in each call: a capture must not wait for one that was recorded outside of it.
        ready: dict[int, torch.cuda.Event] = {}
        done: dict[int, torch.cuda.Event] = {}
        history = self.table.new_empty(DEPTH, len(ids), HIDDEN)
        ready[0] = self._prefetch(0, None)
        x = Ops.embed(ids, self.table, history)
        for layer in range(layers):
            if layer + 1 < layers:
                ready[layer + 1] = self._prefetch(layer + 1, done.get(layer - 1))
            main.wait_event(ready[layer])
            slot = self.slots[layer % 2]
            norms = slot.norms.split(NORMS)
            x = self._attention(layer, slot, norms, x, history, positions)
            x = self._experts(layer, slot, norms, x, history)
            done[layer] = torch.cuda.Event()
            done[layer].record(main)
        last = x.view(BATCH, -1, HIDDEN)[:, -1]
        return F.linear(Ops.rms_norm(last, self.final), self.head)

    def _prefetch(self, layer: int, slot_free: torch.cuda.Event | None) -> torch.cuda.Event:
        """Issue a layer's weight copies on the side stream; return the event that tells they are done."""
        slot = self.slots[layer % 2]
        self.side.wait_stream(torch.cuda.current_stream())
        if slot_free is not None:
            self.side.wait_event(slot_free)
        with torch.cuda.stream(self.side):
            slot.norms.copy_(self.norms[layer % POOL])
            for staged, source in zip(slot.weights, self.host[layer % POOL], strict=True):
                staged.copy_(source, non_blocking=True)
            event = torch.cuda.Event()
            event.record(self.side)
        return event

    def _attention(
        self, layer: int, slot: Slot, norms: tuple[torch.Tensor, ...],
        x: torch.Tensor, history: torch.Tensor, positions: torch.Tensor,
    ) -> torch.Tensor:  # fmt: skip
        """Latent attention over the cache with a gated output, and the residual add."""
        q_up, absorb_key, absorb_value, out_proj = slot.weights[:4]
        tokens, cache, own = len(x), self.caches[layer % POOL], self.resident[layer % POOL]
        h = Ops.rms_norm(Ops.attn_res(x, history, norms[0]), norms[1])
        latent_q, latent, key = F.linear(h, own.qkv_down).split((LATENT, LATENT, ROPE), -1)
        query = F.linear(Ops.rms_norm(latent_q, norms[2]), q_up).view(-1, HEAD + ROPE)
        plain, turned = Ops.rms_norm(query, norms[4]).view(tokens, HEADS, -1).split((HEAD, ROPE), -1)
        Ops.rope(turned, positions)
        Ops.rope(key.unsqueeze(1), positions)
        latent = Ops.rms_norm(latent, norms[3])
        Ops.kv_cache_write(latent, key, cache, positions)
        absorbed = torch.bmm(plain.transpose(0, 1), absorb_key)
        scale = (HEAD + ROPE) ** -0.5
        if tokens == BATCH:
            mixed = Ops.mla_attention(absorbed, turned, cache, scale)
        else:
            mixed = self._attend_new(absorbed, turned, torch.cat([latent, key], -1), scale)
        heads = x.new_empty(tokens, HEADS, HEAD)
        torch.bmm(mixed, absorb_value, out=heads.transpose(0, 1))
        gated = Ops.sigmoid_mul(heads.view(tokens, -1), F.linear(h, own.gate))
        return Ops.add_residual(x, F.linear(gated, out_proj))

    @staticmethod
    def _attend_new(latent_q: torch.Tensor, rope_q: torch.Tensor, keys: torch.Tensor, scale: float) -> torch.Tensor:
        """Causal attention among the new tokens of each sequence only; keys are [T, LATENT + ROPE]."""
        query = torch.cat([latent_q, rope_q.transpose(0, 1)], -1).view(HEADS, BATCH, -1, LATENT + ROPE)
        keys = keys.view(BATCH, -1, LATENT + ROPE)
        scores = torch.matmul(query, keys.transpose(1, 2)) * scale
        hidden = torch.ones(scores.shape[-2:], dtype=torch.bool, device=keys.device).triu(1)
        weights = scores.masked_fill(hidden, float("-inf")).softmax(-1)
        return torch.matmul(weights, keys[..., :LATENT]).view(HEADS, -1, LATENT)

    def _experts(
        self, layer: int, slot: Slot, norms: tuple[torch.Tensor, ...], x: torch.Tensor, history: torch.Tensor
    ) -> torch.Tensor:
        """Routed experts in a narrower space beside a shared expert, and the residual add."""
        router, shared_up, shared_down = slot.weights[4:]
        main, own = torch.cuda.current_stream(), self.resident[layer % POOL]
        h = Ops.rms_norm(Ops.attn_res(x, history, norms[5]), norms[6])
        self.alt.wait_stream(main)
        with torch.cuda.stream(self.alt):
            shares, ids = Ops.route(h, router, TOP_K)
        narrow = Ops.rms_norm(F.linear(h, own.into), norms[7])
        main.wait_stream(self.alt)
        self.alt.wait_stream(main)
        with torch.cuda.stream(self.alt):
            shared = F.linear(Ops.silu_and_mul(F.linear(h, shared_up)), shared_down)
        routed = Ops.routed_experts(narrow, shares, ids, own.up, own.up_scales, own.down, own.down_scales)
        routed = F.linear(routed, own.back)
        main.wait_stream(self.alt)
        return Ops.add3(x, routed, shared, history[layer % DEPTH])

    def _random(self, *shape: int, scale: float = 0.02) -> torch.Tensor:
        return torch.empty(shape, dtype=torch.bfloat16, device=self.device).normal_(std=scale)

    def _draw_resident(self) -> Resident:
        def int8(*shape: int) -> torch.Tensor:
            return torch.randint(-127, 128, shape, dtype=torch.int8, device=self.device)

        def scales(*shape: int) -> torch.Tensor:
            return torch.full(shape, 0.02 / 73, device=self.device)  # 73: deviation of the int8 values

        return Resident(
            qkv_down=self._random(LATENT * 2 + ROPE, HIDDEN),
            gate=self._random(HEADS * HEAD, HIDDEN),
            into=self._random(SPARSE, HIDDEN),
            back=self._random(HIDDEN, SPARSE),
            up=int8(EXPERTS, EXPERT * 2, SPARSE),
            up_scales=scales(EXPERTS, EXPERT * 2),
            down=int8(EXPERTS, SPARSE, EXPERT),
            down_scales=scales(EXPERTS, SPARSE),
        )


class Loop:
    """A decode loop around one captured step."""

    def __init__(self, model: Decoder, size: Size) -> None:
        """Warm up both kinds of step, then capture the decode step.

        Args:
            model: The decoder to run.
            size: How many layers, and how many of them in the prefill.
        """
        self.model, self.size = model, size
        device = model.device
        self.prompt = torch.randint(VOCAB, (BATCH * PREFILL,), device=device)
        self.prompt_positions = torch.arange(PREFILL, device=device).repeat(BATCH)
        self.ids = torch.randint(VOCAB, (BATCH,), device=device)
        self.positions = torch.full((BATCH,), CONTEXT - 1, device=device)
        self.tokens = torch.empty(BATCH, dtype=torch.int64, pin_memory=True)
        self.graph = torch.cuda.CUDAGraph()
        stream = torch.cuda.Stream(device)
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            # Compiled kernels, library handles and their workspaces must exist for these streams beforehand.
            for _ in range(2):
                model.forward(self.ids, self.positions, 2)
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph, stream=stream):
            self.logits = model.forward(self.ids, self.positions, size.layers)
            self.ids.copy_(self.logits.argmax(-1))
        for step in range(3):
            self.prefill()
            self.decode(sample=step > 0)
        torch.cuda.synchronize()

    def prefill(self) -> None:
        """Run the eager step."""
        with record_function(f"step[EXTEND bs={BATCH}]"):
            self.model.forward(self.prompt, self.prompt_positions, self.size.prefill_layers)

    def decode(self, *, sample: bool) -> None:
        """Replay the captured step.

        Args:
            sample: Draw the next tokens from the logits and fetch them; otherwise go on with the best ones.
        """
        with record_function(f"step[DECODE bs={BATCH}]"):
            self.graph.replay()
            if sample:
                with record_function("sample"):
                    chances = self.logits.float().softmax(-1)
                    self.ids.copy_(torch.multinomial(chances, 1).squeeze(1))
                    self.tokens.copy_(self.ids)

    def record(self, path: str) -> None:
        """Profile one prefill and the replays, every second one with sampling.

        Args:
            path: Where the trace goes; the file itself repeats this text.
        """
        with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
            self.prefill()
            for step in range(self.size.replays):
                self.decode(sample=step % 2 == 1)
            torch.cuda.synchronize()
        profiler.export_chrome_trace(path)


def main() -> int:
    """Record the asked sizes.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(description="Record profiler traces of a decode step under CUDA Graphs.")
    parser.add_argument("--out", type=Path, required=True, help="folder for decode_*.json.gz")
    parser.add_argument("--only", choices=sorted(SIZES), help="record this size only")
    parser.add_argument("--windows", type=int, default=1, help="profile so many times and keep the last (1)")
    arguments = parser.parse_args()
    if not torch.cuda.is_available():
        sys.stderr.write("record.py needs a CUDA GPU that PyTorch can use\n")
        return 2
    arguments.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    with torch.inference_mode(), contextlib.chdir(arguments.out):
        model = Decoder(torch.device("cuda", torch.cuda.current_device()))
        for name in [arguments.only] if arguments.only else sorted(SIZES, reverse=True):
            # A bare name, because the profiler writes the path it was given into the file.
            plain = Path(f"decode_{name}.json")
            loop = Loop(model, SIZES[name])
            for _ in range(arguments.windows):
                loop.record(plain.name)
            packed = plain.with_suffix(".json.gz")
            packed.write_bytes(gzip.compress(plain.read_bytes(), 9, mtime=0))
            plain.unlink()
            sys.stderr.write(f"{packed}: {packed.stat().st_size:,} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
