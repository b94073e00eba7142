"""Small kernels of a decode step, written in Triton so that a trace shows what each one does.

The profiler prints a kernel's function name. Every kernel here therefore carries the name of its job, and
`Ops` holds a launcher under the same name: inside a method the bare name means the kernel, from outside
`Ops.name` means the launcher. `torch_ops.Ops` offers the same methods without Triton.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

EPS = tl.constexpr(1e-6)
ROWS = 16
"""Rows of one expert tile; every expert's tokens are padded to a multiple of it."""


@triton.jit
def embed(ids, table, out, history, T, H: tl.constexpr, DEPTH: tl.constexpr):
    t = tl.program_id(0)
    i = tl.arange(0, H)
    row = tl.load(table + tl.load(ids + t) * H + i)
    tl.store(out + t * H + i, row)
    for d in range(DEPTH):
        tl.store(history + (d * T + t) * H + i, row)


@triton.jit
def rms_norm(x, weight, out, stride, D: tl.constexpr):
    t = tl.program_id(0)
    i = tl.arange(0, D)
    v = tl.load(x + t * stride + i).to(tl.float32)
    v = v * tl.rsqrt(tl.sum(v * v, 0) / D + EPS)
    tl.store(out + t * D + i, v * tl.load(weight + i).to(tl.float32))


@triton.jit
def attn_res(x, history, weight, out, T, H: tl.constexpr, DEPTH: tl.constexpr):
    t = tl.program_id(0)
    i = tl.arange(0, H)
    w = tl.load(weight + i).to(tl.float32)
    acc = tl.load(x + t * H + i).to(tl.float32)
    top = tl.sum(acc * w, 0) * tl.rsqrt(tl.sum(acc * acc, 0) / H + EPS)
    total = top * 0.0 + 1.0
    for d in range(DEPTH):
        v = tl.load(history + (d * T + t) * H + i).to(tl.float32)
        score = tl.sum(v * w, 0) * tl.rsqrt(tl.sum(v * v, 0) / H + EPS)
        peak = tl.maximum(top, score)
        old = tl.exp(top - peak)
        new = tl.exp(score - peak)
        acc = acc * old + v * new
        total = total * old + new
        top = peak
    tl.store(out + t * H + i, acc / total)


@triton.jit
def rope(x, positions, token_stride, head_stride, HALF: tl.constexpr):
    t = tl.program_id(0)
    base = x + t * token_stride + tl.program_id(1) * head_stride
    i = tl.arange(0, HALF)
    angle = tl.load(positions + t).to(tl.float32) * tl.exp(i.to(tl.float32) * (-9.210340371976184 / HALF))
    a = tl.load(base + i).to(tl.float32)
    b = tl.load(base + HALF + i).to(tl.float32)
    tl.store(base + i, a * tl.cos(angle) - b * tl.sin(angle))
    tl.store(base + HALF + i, a * tl.sin(angle) + b * tl.cos(angle))


@triton.jit
def kv_cache_write(latent, key, cache, positions, key_stride, per_seq, ctx, C: tl.constexpr, R: tl.constexpr):
    t = tl.program_id(0)
    row = cache + ((t // per_seq).to(tl.int64) * ctx + tl.load(positions + t)) * (C + R)
    i = tl.arange(0, C)
    tl.store(row + i, tl.load(latent + t * C + i))
    j = tl.arange(0, R)
    tl.store(row + C + j, tl.load(key + t * key_stride + j))


@triton.jit
def mla_decode(
    latent_q, rope_q, cache, part, lse, scale, T, ctx, span, token_stride, head_stride,
    HEADS: tl.constexpr, C: tl.constexpr, R: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    t = tl.program_id(0)
    split = tl.program_id(1)
    h = tl.arange(0, HEADS)
    c = tl.arange(0, C)
    r = tl.arange(0, R)
    n = tl.arange(0, N)
    q1 = tl.load(latent_q + (h[:, None] * T + t) * C + c[None, :])
    q2 = tl.load(rope_q + t * token_stride + h[:, None] * head_stride + r[None, :])
    top = tl.full([HEADS], -1e30, tl.float32)
    total = tl.zeros([HEADS], tl.float32)
    acc = tl.zeros([HEADS, C], tl.float32)
    base = cache + t.to(tl.int64) * ctx * (C + R)
    for start in range(split * span, split * span + span, N):
        row = base + (start + n)[:, None] * (C + R)
        k1 = tl.load(row + c[None, :])
        k2 = tl.load(row + C + r[None, :])
        s = (tl.dot(q1, tl.trans(k1)) + tl.dot(q2, tl.trans(k2))) * scale
        peak = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - peak[:, None])
        old = tl.exp(top - peak)
        total = total * old + tl.sum(p, 1)
        acc = acc * old[:, None] + tl.dot(p.to(k1.dtype), k1)
        top = peak
    row = (split * HEADS + h) * T + t
    tl.store(part + row[:, None] * C + c[None, :], acc / total[:, None])
    tl.store(lse + row, top + tl.log(total))


@triton.jit
def mla_combine(part, lse, out, rows, SPLITS: tl.constexpr, C: tl.constexpr):
    row = tl.program_id(0)
    s = tl.arange(0, SPLITS)
    c = tl.arange(0, C)
    share = tl.load(lse + s * rows + row)
    share = tl.exp(share - tl.max(share, 0))
    share = share / tl.sum(share, 0)
    tile = tl.load(part + (s[:, None] * rows + row) * C + c[None, :])
    tl.store(out + row * C + c, tl.sum(tile * share[:, None], 0))


@triton.jit
def sigmoid_mul(x, gate, out, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    g = tl.load(gate + i, mask=i < N).to(tl.float32)
    tl.store(out + i, tl.load(x + i, mask=i < N).to(tl.float32) * tl.sigmoid(g), mask=i < N)


@triton.jit
def add_residual(a, b, out, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(a + i, mask=i < N) + tl.load(b + i, mask=i < N), mask=i < N)


@triton.jit
def add3(a, b, c, out, history, N, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < N
    total = tl.load(a + i, mask=keep) + tl.load(b + i, mask=keep) + tl.load(c + i, mask=keep)
    tl.store(out + i, total, mask=keep)
    tl.store(history + i, total, mask=keep)


@triton.jit
def silu_and_mul(x, out, D, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    i = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    gate = tl.load(x + row * 2 * D + i, mask=i < D).to(tl.float32)
    up = tl.load(x + row * 2 * D + D + i, mask=i < D).to(tl.float32)
    tl.store(out + row * D + i, gate * tl.sigmoid(gate) * up, mask=i < D)


@triton.jit
def router_gate(
    x, weight, out, T, H: tl.constexpr, E: tl.constexpr, BT: tl.constexpr, BE: tl.constexpr, BK: tl.constexpr
):
    t = tl.program_id(0) * BT + tl.arange(0, BT)
    e = tl.program_id(1) * BE + tl.arange(0, BE)
    k = tl.arange(0, BK)
    acc = tl.zeros([BT, BE], tl.float32)
    for start in range(0, H, BK):
        a = tl.load(x + t[:, None] * H + start + k[None, :], mask=t[:, None] < T, other=0.0)
        acc += tl.dot(a, tl.load(weight + e[None, :] * H + start + k[:, None]))
    tl.store(out + t[:, None] * E + e[None, :], acc, mask=t[:, None] < T)


@triton.jit
def topk_softmax(logits, shares, ids, E: tl.constexpr, K: tl.constexpr):
    t = tl.program_id(0)
    e = tl.arange(0, E)
    v = tl.load(logits + t * E + e)
    v = tl.exp(v - tl.max(v, 0))
    v = v / tl.sum(v, 0)
    for k in range(K):
        best = tl.argmax(v, 0)
        tl.store(ids + t * K + k, best)
        tl.store(shares + t * K + k, tl.max(v, 0))
        v = tl.where(e == best, -1.0, v)


@triton.jit
def quant_int8(x, out, scales, D: tl.constexpr):
    t = tl.program_id(0)
    i = tl.arange(0, D)
    v = tl.load(x + t * D + i).to(tl.float32)
    scale = tl.maximum(tl.max(tl.abs(v), 0) / 127.0, 1e-8)
    tl.store(out + t * D + i, tl.floor(v / scale + 0.5).to(tl.int8))
    tl.store(scales + t, scale)


@triton.jit
def moe_count(ids, rank, counts, pairs, BLOCK: tl.constexpr):
    e = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    seen = e * 0
    for start in range(0, pairs, BLOCK):
        hit = (tl.load(ids + start + i, mask=start + i < pairs, other=-1) == e).to(tl.int32)
        tl.store(rank + start + i, tl.cumsum(hit, 0) - 1 + seen, mask=hit > 0)
        seen += tl.sum(hit, 0)
    tl.store(counts + e, seen)


@triton.jit
def moe_offsets(counts, offsets, block_expert, blocks, E: tl.constexpr, BLOCK: tl.constexpr, BM: tl.constexpr):
    e = tl.arange(0, E)
    need = (tl.load(counts + e) + BM - 1) // BM
    end = tl.cumsum(need, 0)
    tl.store(offsets + e, (end - need) * BM)
    b = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    owner = tl.sum((end[None, :] <= b[:, None]).to(tl.int32), 1)
    tl.store(block_expert + b, tl.where(owner < E, owner, -1), mask=b < blocks)


@triton.jit
def moe_dispatch(x, scales, ids, rank, offsets, out, out_scales, K: tl.constexpr, D: tl.constexpr):
    pair = tl.program_id(0)
    row = tl.load(offsets + tl.load(ids + pair)) + tl.load(rank + pair)
    i = tl.arange(0, D)
    tl.store(out + row * D + i, tl.load(x + (pair // K) * D + i))
    tl.store(out_scales + row, tl.load(scales + pair // K))


@triton.jit
def expert_tile(
    x, scales, weight, weight_scales, block_expert, out, N,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    e = tl.load(block_expert + tl.program_id(0))
    if e >= 0:
        m = tl.program_id(0) * BM + tl.arange(0, BM)
        n = tl.program_id(1) * BN + tl.arange(0, BN)
        k = tl.arange(0, BK)
        acc = tl.zeros([BM, BN], tl.int32)
        columns = weight + (e.to(tl.int64) * N + n[None, :]) * D
        for start in range(0, D, BK):
            a = tl.load(x + m[:, None] * D + start + k[None, :])
            acc += tl.dot(a, tl.load(columns + start + k[:, None]), out_dtype=tl.int32)
        scale = tl.load(scales + m)[:, None] * tl.load(weight_scales + e * N + n)[None, :]
        tl.store(out + m[:, None] * N + n[None, :], acc.to(tl.float32) * scale)


@triton.jit
def moe_up(
    x, scales, weight, weight_scales, block_expert, out, N,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    expert_tile(x, scales, weight, weight_scales, block_expert, out, N, D, BM, BN, BK)


@triton.jit
def moe_down(
    x, scales, weight, weight_scales, block_expert, out, N,
    D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    expert_tile(x, scales, weight, weight_scales, block_expert, out, N, D, BM, BN, BK)


@triton.jit
def moe_combine(y, shares, ids, rank, offsets, out, K: tl.constexpr, D: tl.constexpr):
    t = tl.program_id(0)
    i = tl.arange(0, D)
    acc = tl.zeros([D], tl.float32)
    for k in range(K):
        pair = t * K + k
        row = tl.load(offsets + tl.load(ids + pair)) + tl.load(rank + pair)
        acc += tl.load(y + row * D + i).to(tl.float32) * tl.load(shares + pair)
    tl.store(out + t * D + i, acc)


class Ops:
    """Launchers, one per kernel or short fixed series; arguments are contiguous unless a view is named."""

    @staticmethod
    def embed(ids: torch.Tensor, table: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        """Look up [T] ids in [V, H] and fill every slot of the [DEPTH, T, H] history with the rows."""
        out = table.new_empty(len(ids), table.shape[1])
        embed[(len(ids),)](ids, table, out, history, len(ids), H=table.shape[1], DEPTH=len(history))
        return out

    @staticmethod
    def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Normalise the rows of a [T, D] view whose rows may lie apart."""
        out = x.new_empty(x.shape)
        rms_norm[(len(x),)](x, weight, out, x.stride(0), D=x.shape[1], num_warps=4)
        return out

    @staticmethod
    def attn_res(x: torch.Tensor, history: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Mix [T, H] with the [DEPTH, T, H] history by a softmax over depth."""
        out = torch.empty_like(x)
        attn_res[(len(x),)](x, history, weight, out, len(x), H=x.shape[1], DEPTH=len(history), num_warps=4)
        return out

    @staticmethod
    def rope(x: torch.Tensor, positions: torch.Tensor) -> None:
        """Rotate a [T, heads, R] view in place."""
        grid = (x.shape[0], x.shape[1])
        rope[grid](x, positions, x.stride(0), x.stride(1), HALF=x.shape[2] // 2, num_warps=1)

    @staticmethod
    def kv_cache_write(latent: torch.Tensor, key: torch.Tensor, cache: torch.Tensor, positions: torch.Tensor) -> None:
        """Store [T, C] and a [T, R] view at their positions of the [S, ctx, C + R] cache."""
        kv_cache_write[(len(latent),)](
            latent, key, cache, positions, key.stride(0), len(latent) // cache.shape[0], cache.shape[1],
            C=latent.shape[1], R=key.shape[1], num_warps=2,
        )  # fmt: skip

    @staticmethod
    def mla_attention(latent_q: torch.Tensor, rope_q: torch.Tensor, cache: torch.Tensor, scale: float) -> torch.Tensor:
        """Attend from [heads, T, C] and a [T, heads, R] view over the whole [T, ctx, C + R] cache."""
        heads, tokens, size = latent_q.shape
        splits, ctx = 16, cache.shape[1]
        part = latent_q.new_empty(splits, heads, tokens, size, dtype=torch.float32)
        lse = latent_q.new_empty(splits, heads, tokens, dtype=torch.float32)
        mla_decode[(tokens, splits)](
            latent_q, rope_q, cache, part, lse, scale, tokens, ctx, ctx // splits, *rope_q.stride()[:2],
            HEADS=heads, C=size, R=rope_q.shape[2], N=32, num_warps=4, num_stages=2,
        )  # fmt: skip
        out = torch.empty_like(latent_q)
        mla_combine[(heads * tokens,)](part, lse, out, heads * tokens, SPLITS=splits, C=size)
        return out

    @staticmethod
    def sigmoid_mul(x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        """Multiply by the sigmoid of a gate of the same shape."""
        out = torch.empty_like(x)
        sigmoid_mul[(triton.cdiv(x.numel(), 512),)](x, gate, out, x.numel(), BLOCK=512)
        return out

    @staticmethod
    def add_residual(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Add two tensors of one shape."""
        out = torch.empty_like(a)
        add_residual[(triton.cdiv(a.numel(), 512),)](a, b, out, a.numel(), BLOCK=512)
        return out

    @staticmethod
    def add3(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        """Add three tensors of one shape and keep the sum in a history slot too."""
        out = torch.empty_like(a)
        add3[(triton.cdiv(a.numel(), 512),)](a, b, c, out, history, a.numel(), BLOCK=512)
        return out

    @staticmethod
    def silu_and_mul(x: torch.Tensor) -> torch.Tensor:
        """Gate the second half of each row of [T, 2 D] by the SiLU of the first."""
        size = x.shape[1] // 2
        out = x.new_empty(len(x), size)
        silu_and_mul[(len(x), triton.cdiv(size, 512))](x, out, size, BLOCK=512)
        return out

    @staticmethod
    def route(x: torch.Tensor, weight: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Score [T, H] against [E, H]; return the k best shares and expert ids of each token, [T, k] each."""
        tokens, experts = len(x), len(weight)
        logits = x.new_empty(tokens, experts, dtype=torch.float32)
        router_gate[(triton.cdiv(tokens, 16), experts // 16)](
            x, weight, logits, tokens, H=x.shape[1], E=experts, BT=16, BE=16, BK=128
        )
        shares = x.new_empty(tokens, k, dtype=torch.float32)
        ids = x.new_empty(tokens, k, dtype=torch.int32)
        topk_softmax[(tokens,)](logits, shares, ids, E=experts, K=k, num_warps=1)
        return shares, ids

    @staticmethod
    def routed_experts(
        x: torch.Tensor, shares: torch.Tensor, ids: torch.Tensor,
        up: torch.Tensor, up_scales: torch.Tensor, down: torch.Tensor, down_scales: torch.Tensor,
    ) -> torch.Tensor:  # fmt: skip
        """Run [T, D] through its experts in int8, sorted by expert; sizes are upper bounds, for capture."""
        (tokens, size), experts, k = x.shape, len(up), ids.shape[1]
        pairs = tokens * k
        blocks = (pairs + min(experts, pairs) * (ROWS - 1)) // ROWS
        rank, counts, offsets, block_expert = (
            x.new_empty(n, dtype=torch.int32) for n in (pairs, experts, experts, blocks)
        )
        quantised, scales = Ops._quant_int8(x)
        moe_count[(experts,)](ids, rank, counts, pairs, BLOCK=256)
        moe_offsets[(triton.cdiv(blocks, 64),)](counts, offsets, block_expert, blocks, E=experts, BLOCK=64, BM=ROWS)
        rows = x.new_empty(blocks * ROWS, size, dtype=torch.int8)
        row_scales = x.new_empty(blocks * ROWS, dtype=torch.float32)
        moe_dispatch[(pairs,)](quantised, scales, ids, rank, offsets, rows, row_scales, K=k, D=size)
        tile = {"BM": ROWS, "BN": 64, "BK": 128, "num_warps": 4, "num_stages": 4}
        wide = x.new_empty(blocks * ROWS, up.shape[1])
        moe_up[(blocks, up.shape[1] // 64)](
            rows, row_scales, up, up_scales, block_expert, wide, up.shape[1], D=size, **tile
        )
        rows, row_scales = Ops._quant_int8(Ops.silu_and_mul(wide))
        narrow = x.new_empty(blocks * ROWS, size)
        moe_down[(blocks, size // 64)](
            rows, row_scales, down, down_scales, block_expert, narrow, size, D=down.shape[2], **tile
        )
        out = torch.empty_like(x)
        moe_combine[(tokens,)](narrow, shares, ids, rank, offsets, out, K=k, D=size)
        return out

    @staticmethod
    def _quant_int8(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        out = x.new_empty(x.shape, dtype=torch.int8)
        scales = x.new_empty(len(x), dtype=torch.float32)
        quant_int8[(len(x),)](x, out, scales, D=x.shape[1])
        return out, scales
