"""What kind of work an op does, and which runtime rows launch a whole graph."""

from __future__ import annotations

import pytest

from tui_trace.store.kinds import CATEGORY_NAMES, KIND_NAMES, Category, Kind, is_graph_launch, kind_of


@pytest.mark.parametrize(
    ("category", "name", "kind"),
    [
        (Category.KERNEL, "rms_norm", Kind.COMPUTE),
        (Category.KERNEL, "", Kind.COMPUTE),
        (Category.MEMSET, "Memset (Device)", Kind.MEMSET),
        (Category.MEMSET, "nccl", Kind.MEMSET),
        (Category.MEMCPY, "Memcpy DtoD (Device -> Device)", Kind.COPY),
        (Category.MEMCPY, "nccl", Kind.COPY),
        (Category.KERNEL, "memcpy128", Kind.COPY),
        (Category.KERNEL, "memcpy32_post", Kind.COPY),
        (Category.KERNEL, "memcpy", Kind.COMPUTE),
        (Category.KERNEL, "memcpy_kernel", Kind.COMPUTE),
        (Category.KERNEL, "memcpy2dfast", Kind.COMPUTE),
        (Category.KERNEL, "my_memcpy128", Kind.COMPUTE),
        (Category.KERNEL, "memset128", Kind.COMPUTE),
        (Category.KERNEL, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", Kind.COMM),
        (Category.KERNEL, "rcclGenericKernel", Kind.COMM),
        (Category.KERNEL, "void vllm::cross_device_reduce_1stage<float>", Kind.COMM),
        (Category.KERNEL, "multimem_all_reduce_kernel", Kind.COMM),
        (Category.KERNEL, "NVSHMEM_put", Kind.COMM),
        (Category.KERNEL, "NCCL", Kind.COMM),
    ],
)
def test_the_kind_follows_from_category_and_name(category: Category, name: str, kind: Kind) -> None:
    """Copies that the driver runs as kernels are copies; collectives are told by name, in any case of letters."""
    assert kind_of(category, name) == kind


@pytest.mark.parametrize(
    ("name", "launches"),
    [
        ("cudaGraphLaunch", True),
        ("cudaGraphLaunch_v10000", True),
        ("cuGraphLaunch", True),
        ("hipGraphLaunch", True),
        ("cudaLaunchKernel", False),
        ("cudaLaunchKernelExC", False),
        ("cudaGraphInstantiate", False),
        ("cudaGraphUpload", False),
        ("myGraphLaunch", False),
        ("", False),
    ],
)
def test_graph_launches_are_told_by_name(name: str, *, launches: bool) -> None:
    """All three runtimes, whatever version the name carries; nothing else."""
    assert is_graph_launch(name) is launches


def test_names_go_with_numbers() -> None:
    """Reports print a name for each kind and category."""
    assert [KIND_NAMES[kind] for kind in Kind] == ["compute", "copy", "comm", "memset"]
    assert [CATEGORY_NAMES[category] for category in Category] == ["kernel", "gpu_memcpy", "gpu_memset"]
