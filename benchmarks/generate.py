"""Writes synthetic Kineto-like traces of any size: a decode loop under CUDA Graph in one of three mixes.

    python benchmarks/generate.py --megabytes 100 --mix mixed --layout kineto OUT.json

A step is one replay of 4,431 ops on 123 lanes under one correlation, each op with its flow row as Kineto writes it,
24 runtime calls, 8 eager kernels, 400 cpu_op rows, and nested python_function rows: 9,000 (mixed), none (graph) or
60,000 (stack). The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

PYTHON_ROWS = {"mixed": 9_000, "graph": 0, "stack": 60_000}
LANES = 123
OPS = 4_431
START_US = 5_092_583_761_957.0

HEADER = """
{
  "schemaVersion": 1,
  "deviceProperties": [
    {
      "id": 0, "name": "NVIDIA H200", "totalGlobalMem": 150109880320,
      "computeMajor": 9, "computeMinor": 0, "warpSize": 32, "numSms": 132
    }
  ],
  "cupti_version": 130001,
  "displayTimeUnit": "ms",
  "baseTimeNanoseconds": 1790857026000000000,
  "traceEvents": [
"""

KERNELS = (
    (
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
        "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"
    ),
    "nvjet_sm90_tst_64x8_64x16_2x4_h_bz_NNT",
    "void flashinfer::norm::FusedAddRMSNormKernel<8u, __nv_bfloat16>(__nv_bfloat16*, __nv_bfloat16*, float)",
    "_ZN7cutlass13device_kernelI62sm90_fp8_gemm_1d2d_implILN4cute4UMMA5MajorE0EEE",
    "mla_decode_kernel",
    "situ_and_mul_kernel",
)


class Writer:
    """Rows of one trace, in the layout of Kineto's C++ writer."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._clock = START_US
        self._correlation = 1_000
        self._external = 500

    def step(self, python_rows: int) -> Iterator[str]:
        """Yields the rows of one step: CPU side first, then the GPU side."""
        start = self._clock
        self._external += 1
        step_id = self._external
        yield self._row(
            "user_annotation", "step[DECODE bs=24]", 4242, 4242, start, 60_000.0, f'"External id": {step_id}'
        )
        yield from self._python(start, python_rows)
        for i in range(400):
            self._external += 1
            args = f'"External id": {self._external},"Record function id": 0, "Sequence number": {i}, "Ev Idx": {i}'
            yield self._row("cpu_op", "aten::copy_", 4242, 4242, start + 20 * i, 15.125, args)
        for i in range(24):
            self._correlation += 1
            args = f'      "cbid": 211, "correlation": {self._correlation}'
            yield self._row("cuda_runtime", "cudaLaunchKernel", 4242, 4242, start + 8_000 + 40 * i, 9.876, args)
            if i < 8:
                yield from self._op(start + 8_020 + 40 * i, 7, KERNELS[i % len(KERNELS)])
        self._correlation += 1
        args = f'      "cbid": 311, "correlation": {self._correlation}'
        yield self._row("cuda_runtime", "cudaGraphLaunch", 4242, 4242, start + 9_500, 350.5, args)
        at = start + 10_000
        for i in range(OPS):
            at += self._random.randrange(2_000, 24_000) / 1000
            yield from self._op(at, 7 + (i * LANES // OPS), KERNELS[i % len(KERNELS)])
        self._clock = at + 500

    def _python(self, start: float, count: int) -> Iterator[str]:
        for i in range(count):
            args = f'"Python parent id": {i}, "Python id": {i + 1}, "Ev Idx": {i}'
            name = f"sglang/srt/models/kimi_k3.py({100 + i % 900}): forward"
            yield self._row("python_function", name, 4242, 4242, start + i % 60_000, 50.001, args)

    def _op(self, at: float, lane: int, name: str) -> Iterator[str]:
        duration = self._random.randrange(900, 30_000) / 1000
        args = (
            f'      "queued": 0, "device": 0, "context": 1,      "stream": {lane}, "correlation": {self._correlation},'
            '      "registers per thread": 72,      "shared memory": 4096,      "blocks per SM": 0.242424,'
            '      "warps per SM": 1.939394,      "grid": [32, 1, 1],      "block": [256, 1, 1],'
            '      "est. achieved occupancy %": 3'
        )
        yield self._row("kernel", name, 0, lane, at, duration, args)
        yield (
            f'  {{\n    "ph": "f", "id": {self._correlation}, "pid": 0, "tid": {lane}, "ts": {at:.3f},\n'
            '    "cat": "ac2g", "name": "ac2g", "bp": "e"\n  }'
        )

    @staticmethod
    def _row(cat: str, name: str, pid: int, tid: int, ts: float, dur: float, args: str) -> str:
        return (
            f'  {{\n    "ph": "X", "cat": "{cat}", "name": "{name}", "pid": {pid}, "tid": {tid},\n'
            f'    "ts": {ts:.3f}, "dur": {dur:.3f},\n    "args": {{\n      {args}\n    }}\n  }}'
        )


def write(out: TextIO, megabytes: float, mix: str, seed: int = 0) -> None:
    """Writes a trace of at least this size in Kineto's layout."""
    writer = Writer(seed)
    size = out.write(HEADER)
    separator = ""
    while size < megabytes * 1_000_000:
        for row in writer.step(PYTHON_ROWS[mix]):
            size += out.write(separator + row)
            separator = ",\n"
    end = '  {\n    "name": "Record Window End", "ph": "i", "s": "g",\n    "pid": "", "tid": "", "ts": 9.999\n  }'
    out.write(f'{separator}{end}\n  ],\n  "traceName": "trace.json"\n}}\n')


def relayout(source: Path, target: Path, layout: str) -> None:
    """Rewrites a trace as another tool would: minified, or indented."""
    data = orjson.loads(source.read_bytes())
    target.write_bytes(orjson.dumps(data, option=orjson.OPT_INDENT_2 if layout == "indent" else 0))


def main() -> None:
    """Writes one trace as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--mix", choices=tuple(PYTHON_ROWS), default="mixed")
    parser.add_argument("--layout", choices=("kineto", "minified", "indent"), default="kineto")
    parser.add_argument("--seed", type=int, default=0)
    parsed = parser.parse_args()
    with parsed.out.open("w", encoding="utf-8") as out:
        write(out, parsed.megabytes, parsed.mix, parsed.seed)
    if parsed.layout != "kineto":
        relayout(parsed.out, parsed.out, parsed.layout)


if __name__ == "__main__":
    main()
