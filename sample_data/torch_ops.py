"""The small operations of a decode step in plain PyTorch, for machines without Triton.

Same methods, shapes and results as `triton_ops.Ops`. A trace then shows PyTorch's own kernel names and more
kernels a layer, and the experts run densely.
"""

from __future__ import annotations

import torch
from torch.nn import functional as F


class Ops:
    """Stand-ins for the Triton launchers; each method's shapes are those of `triton_ops.Ops`."""

    @staticmethod
    def embed(ids: torch.Tensor, table: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        """Look up the rows and fill the history with them."""
        rows = table[ids]
        history.copy_(rows.expand_as(history))
        return rows

    @staticmethod
    def rms_norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Normalise rows."""
        return F.rms_norm(x, (x.shape[1],), weight, 1e-6)

    @staticmethod
    def attn_res(x: torch.Tensor, history: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """Mix a tensor with its history by a softmax over depth."""
        layers = torch.cat([x[None], history]).float()
        scores = F.rms_norm(layers, (x.shape[1],), weight.float(), 1e-6).sum(-1, keepdim=True)
        return (layers * scores.softmax(0)).sum(0).to(x.dtype)

    @staticmethod
    def rope(x: torch.Tensor, positions: torch.Tensor) -> None:
        """Rotate a view in place."""
        half = x.shape[2] // 2
        step = torch.arange(half, device=x.device, dtype=torch.float32)
        angle = (positions.float()[:, None] * torch.exp(step * (-9.210340371976184 / half)))[:, None]
        a, b = x[..., :half].float(), x[..., half:].float()
        x.copy_(torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1))

    @staticmethod
    def kv_cache_write(latent: torch.Tensor, key: torch.Tensor, cache: torch.Tensor, positions: torch.Tensor) -> None:
        """Store the new rows at their positions."""
        per_seq = len(latent) // len(cache)
        sequence = torch.arange(len(latent), device=latent.device) // per_seq
        cache[sequence, positions] = torch.cat([latent, key], -1)

    @staticmethod
    def mla_attention(latent_q: torch.Tensor, rope_q: torch.Tensor, cache: torch.Tensor, scale: float) -> torch.Tensor:
        """Attend over the whole cache."""
        query = torch.cat([latent_q.transpose(0, 1), rope_q], -1)
        weights = ((query @ cache.transpose(1, 2)).float() * scale).softmax(-1)
        return (weights.to(cache.dtype) @ cache[..., : latent_q.shape[2]]).transpose(0, 1).contiguous()

    @staticmethod
    def sigmoid_mul(x: torch.Tensor, gate: torch.Tensor) -> torch.Tensor:
        """Multiply by the sigmoid of a gate."""
        return x * gate.sigmoid()

    @staticmethod
    def add_residual(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Add two tensors."""
        return a + b

    @staticmethod
    def add3(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        """Add three tensors and keep the sum in a history slot too."""
        total = a + b + c
        history.copy_(total)
        return total

    @staticmethod
    def silu_and_mul(x: torch.Tensor) -> torch.Tensor:
        """Gate one half of each row by the other."""
        gate, up = x.chunk(2, -1)
        return F.silu(gate) * up

    @staticmethod
    def route(x: torch.Tensor, weight: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the k best shares and expert ids of each token."""
        shares, ids = F.linear(x, weight).float().softmax(-1).topk(k, -1)
        return shares, ids.to(torch.int32)

    @staticmethod
    def routed_experts(
        x: torch.Tensor, shares: torch.Tensor, ids: torch.Tensor,
        up: torch.Tensor, up_scales: torch.Tensor, down: torch.Tensor, down_scales: torch.Tensor,
    ) -> torch.Tensor:  # fmt: skip
        """Run every token through every expert and keep the routed shares."""
        gates = x.new_zeros(len(x), len(up)).scatter_(1, ids.long(), shares.to(x.dtype))
        wide = torch.matmul(x, (up * up_scales[..., None]).to(x.dtype).transpose(1, 2))
        gate, half = wide.chunk(2, -1)
        narrow = torch.bmm(F.silu(gate) * half, (down * down_scales[..., None]).to(x.dtype).transpose(1, 2))
        return torch.einsum("te,etd->td", gates, narrow)
