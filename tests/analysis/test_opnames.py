"""Names as they reach a terminal: harmless always, short where it helps."""

from __future__ import annotations

import time
import unicodedata
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tui_trace.analysis.opnames import clean, sequence_label, short_name

GEMM = "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(cutlass_80_simt_sgemm::Params)"
ADD = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<c10::BFloat16>, "
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)"
)


@given(st.text())
def test_a_clean_text_holds_nothing_that_a_terminal_obeys(text: str) -> None:
    """No control, format, private, surrogate or unassigned character is left, nor a line or paragraph separator."""
    bad = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not {unicodedata.category(character) for character in clean(text)} & bad


@given(st.text())
def test_cleaning_twice_changes_nothing(text: str) -> None:
    """What is clean stays as it is."""
    assert clean(clean(text)) == clean(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain name", "plain name"),
        ("größer – µs ×2", "größer – µs ×2"),
        ("内核", "内核"),
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("a\nb\tc\r", "a␊b␉c␍"),
        ("\x00\x07\x7f", "␀␇␡"),
        ("\x9b31m", "‹U+009B›31m"),
        ("abc\u202egnp.exe", "abc‹U+202E›gnp.exe"),
        ("zero\u200bwidth", "zero‹U+200B›width"),
        ("line\u2028end", "line‹U+2028›end"),
        ("\ud800", "‹U+D800›"),
        ("\ufeffmark", "‹U+FEFF›mark"),
        ("[bold]no markup[/bold]", "[bold]no markup[/bold]"),
    ],
)
def test_each_kind_of_character_is_shown_in_its_way(text: str, shown: str) -> None:
    """Control characters become pictures, invisible ones their code point, all others stay."""
    assert clean(text) == shown


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("rms_norm", "rms_norm"),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
         "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"),
        (GEMM, "cutlass_sgemm_128x64"),
        (ADD, "add elementwise"),
        ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD"),
        ("Memset (Device)", "Memset"),
        ("void ns::(anonymous namespace)::fused<float>(float*)", "fused"),
        ("", ""),
        ("<>", "<>"),
        ("\x1b[2J", "␛[2J"),
    ],
)  # fmt: skip
def test_short_names_keep_what_tells_ops_apart(name: str, short: str) -> None:
    """Return types, namespaces, templates and arguments go; element-wise kernels are named after what they do."""
    assert short_name(name) == short


# Names as recordings hold them, cut where the rest repeats what is there: arguments repeat the template.
NATIVE = "void at::native::"
NONE = "(anonymous namespace)::"
LAMBDA = "{lambda()#1}::operator()() const::{lambda()#4}::operator()() const::{lambda(long)#1}"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (f"{NATIVE}vectorized_elementwise_kernel<2, at::native::CUDAFunctorOnSelf_add<long>, std::array<char*, 2ul> >(",
         "add elementwise"),
        ((f"{NATIVE}elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::BUnaryFunctor<float,"
         " float, float, at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)>("),
         "mul elementwise"),
        ((f"{NATIVE}unrolled_elementwise_kernel<at::native::AUnaryFunctor<float, float, float, at::native::"
         "binary_internal::MulFunctor<float> >, at::detail::Array<char*, 2>, TrivialOffsetCalculator<1, int> >("),
         "mul elementwise"),
        ((f"{NATIVE}vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<long, long, bool, at::native::{NONE}"
         "CompareEqFunctor<long> >, std::array<char*, 2ul> >(int)"),
         "compare_eq elementwise"),
        ((f"{NATIVE}elementwise_kernel_manual_unroll<128, 4, at::native::gpu_kernel_impl<at::native::"
         f"direct_copy_kernel_cuda(at::TensorIteratorBase&)::{LAMBDA}>(at::TensorIteratorBase&)::{{lambda(int)#1}}>(int)"),
         "copy elementwise"),
        ((f"{NATIVE}vectorized_elementwise_kernel<2, at::native::{NONE}masked_fill_kernel(at::TensorIterator&,"
         f" c10::Scalar const&)::{LAMBDA}, std::array<char*, 3ul> >(int)"),
         "masked_fill elementwise"),
        ((f"{NATIVE}vectorized_elementwise_kernel<8, at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)::"
         "{lambda(float)#1}, std::array<char*, 2ul> >(int)"),
         "bfloat16_copy elementwise"),
        (f"{NATIVE}vectorized_elementwise_kernel<2, at::native::FillFunctor<long>, std::array<char*, 1ul> >(int)",
         "fill elementwise"),
        ((f"{NATIVE}vectorized_elementwise_kernel<4, at::native::{NONE}launch_clamp_scalar(at::TensorIteratorBase&,"
         f" c10::Scalar, c10::Scalar, at::native::detail::ClampLimits)::{LAMBDA}, at::detail::Array<char*, 2> >(int)"),
         "clamp_scalar elementwise"),
        ((f"void {NONE}elementwise_kernel_with_index<int, at::native::arange_cuda_out(c10::Scalar const&, c10::Scalar"
         f" const&, c10::Scalar const&, at::Tensor&)::{LAMBDA}>(int)"),
         "arange elementwise"),
        ((f"{NATIVE}index_elementwise_kernel<128, 4, at::native::gpu_index_kernel<at::native::index_kernel_impl<at::"
         "native::OpaqueType<8> >(at::TensorIteratorBase&)::{lambda(char*, char*, long)#1}>(int)::{lambda(int)#1}>("),
         "index elementwise"),
        ((f"{NATIVE}_scatter_gather_elementwise_kernel<128, 4, at::native::_cuda_scatter_gather_internal_kernel<true,"
         " float>::operator()<at::native::ReduceAdd>(at::TensorIterator&, long)::{lambda(int)#1}>(int)"),
         "scatter_gather elementwise"),
        ((f"{NATIVE}{NONE}distribution_elementwise_grid_stride_kernel<float, 4, at::native::templates::cuda::"
         "uniform_and_transform<float, float, at::CUDAGeneratorImpl*, at::native::templates::cuda::exponential_kernel<"
         "at::CUDAGeneratorImpl*>(at::TensorIteratorBase&)::{lambda(float)#1}>(int)::{lambda(int)#2}>(int)"),
         "exponential elementwise"),
        ((f"{NATIVE}reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float>, unsigned int,"
         " float, 4> >(at::native::ReduceOp<float, at::native::MeanOps<float, float>, unsigned int, float, 4>)"),
         "mean reduce"),
        ((f"{NATIVE}reduce_kernel<512, 1, at::native::ReduceOp<long, at::native::func_wrapper_t<long, at::native::"
         "sum_functor<long, long, long>::operator()(at::TensorIterator&)::{lambda(long, long)#1}>, int> >(int)"),
         "sum reduce"),
        ((f"{NATIVE}reduce_kernel<512, 1, at::native::ReduceOp<long, at::native::func_wrapper_t<long, at::native::"
         "MaxNanFunctor<long> >, unsigned int, long, 4, 4> >(int)"),
         "max_nan reduce"),
        ("void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float>, float, adamMode_t, int>(int)",
         "adam multi_tensor"),
        ((f"{NATIVE}{NONE}multi_tensor_apply_kernel<at::native::{NONE}TensorListMetadata<1>, at::native::{NONE}"
         "BinaryOpScalarFunctor<float, 1, 1, 0>, std::multiplies<float>, float>(int)"),
         "mul multi_tensor"),
        (("_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIN3c108BFloat16EEESt5arrayIPcLm3EEEEviT0_"
         "T1_"),
         "add elementwise"),
        (("_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_functorIfffEclERNS_14"
         "TensorIteratorEEUlffE_EEjfLi4EEEEEvT1_"),
         "sum reduce"),
        ("void mine::reduce_kernel<int, 4>(int)", "reduce_kernel"),
    ],
)  # fmt: skip
def test_a_frame_of_pytorch_is_named_after_what_it_does_inside(name: str, short: str) -> None:
    """Which of its frames PyTorch took does not show, wrappers give way to the functor, and this reads as words."""
    assert short_name(name) == short


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8ELb0ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib",
         "add_rmsnorm_quant_kernel"),
        ("_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16TnPFT_RKS3_EXadL_Z4siluIS2_ES3_S5_EEEEvPS3_PS4_i",
         "act_and_mul_kernel"),
        (("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_27Rmsnorm2dFwdPipelineProblemI"
         "DF16bDF16bfDF16bDF16bDF16bffNS_19Generic2dBlockShapeINS_8sequenceIJLi1ELi3072EEEENS5_IJLi1ELi128EEEE"),
         "Rmsnorm2dFwd"),
        (("_ZN19cutlass_cudnn_train6KernelINS_4conv6kernel23ImplicitGemmConvolutionINS1_11threadblock22"
         "ImplicitGemmMultistageINS_4gemm9GemmShapeILi128ELi128ELi32EEE"),
         "ImplicitGemmConvolution"),
        ("_ZN12_GLOBAL__N_1L3fooIfEEvPf", "foo"),
        ("_ZL3foov", "foo"),
        ("_ZN3FooIN1a5ColorELS1_2EE3barEv", "bar"),
        ("_ZN8internal5gemvx6kernelIiifLb1EEEvv", "gemvx kernel"),
        ("_ZN", "_ZN"),
        ("_ZN0E", "_ZN0E"),
        ("_ZN99foo", "foo"),
        ("_Zebra<int>(float*)", "_Zebra"),
    ],
)  # fmt: skip
def test_a_mangled_name_is_read_by_its_length_prefixes(name: str, short: str) -> None:
    """The function's own name, or for an entry that says nothing the first class in its template."""
    assert short_name(name) == short


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(int)", "cutlass_gemm_256x64"),
        ("void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>(int)",
         "cutlass_gemm_32x32"),
        ("void cutlass::device_kernel<cutlass3x_sm90_tensorop_s64x128x16gemm_bf16_bf16_f32_128x128x64_2x1x1_0_tnn>(",
         "cutlass_gemm_128x128x64"),
        ("void cutlass_cudnn_infer::Kernel<cutlass_tensorop_s1688dgrad_optimized_tf32_64x128_32x3_nhwc_align4>(int)",
         "cutlass_dgrad_64x128"),
        (("void cutlass_cudnn_train::Kernel<cutlass_cudnn_train::reduction::kernel::ReduceSplitK<cutlass_cudnn_train::"
         "MatrixShape<4, 128>, 4> >(int)"),
         "ReduceSplitK"),
        ("void cutlass::device_kernel<flash::enable_sm90_or_later<flash::FlashAttnFwdSm90<flash::Main<2> > > >(int)",
         "FlashAttnFwdSm90"),
        (("void rocprim::detail::trampoline_kernel<rocprim::detail::wrapped_scan_config<rocprim::default_config, long>,"
         " (rocprim::detail::target_arch)942, rocprim::detail::scan_impl<(rocprim::lookback)0, false> >(int)"),
         "scan_impl"),
        ("void internal::gemvx::kernel<int, int, __nv_bfloat16, float, false>(int)", "gemvx kernel"),
        ("Kernel", "Kernel"),
        ("kernel", "kernel"),
        ("Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN_LDSB0_AFC1_AFEM1", "Cijk_MT64x16x32"),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize256x128x8_stage3_warpsize4x2x1_ffma", "xmma_gemm_256x128x8"),
        ("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize256x64x32_stage3_tensor16x8x8",
         "xmma_fprop_256x64x32"),
        ("sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize64x64x64_stage4_warpsize2x2x1",
         "xmma_wgrad_64x64x64"),
        ("ampere_sgemm_32x128_nt", "gemm_32x128"),
        ("nvjet_sm90_tst_64x8_64x16_4x2_h_bz_bias_TNT", "nvjet_64x8"),
        ("cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3i_64x64x64", "cudnn_sdpa_flash_fprop"),
        ("cudnn_infer_ampere_scudnn_128x64_relu_xregs_large_nn_v1", "scudnn_128x64"),
        ("bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_clmp_dynBatch",
         "bmm_128x16x256"),
        ("bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_cga1x1x1_16dp256b_rM_TN_clmp_swiGlu_dynBatch",
         "bmm_128x16x256_swiGlu"),
        ("fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvSlidingOrChunkedCausalP16VarSeqQ128Kv128PersistentContext",
         "fmha_SlidingOrChunkedCausal_Context"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
         "ncclKernel_AllReduce_RING_LL_Sum_float"),
    ],
)  # fmt: skip
def test_a_library_kernel_is_what_it_computes_and_its_tile(name: str, short: str) -> None:
    """Architecture, layout, stages and clusters go, be the name bare or the template argument of an empty entry."""
    assert short_name(name) == short


INDUCTOR = [
    ("triton_poi_fused_0", "triton_poi_fused_0"),
    ("triton_poi_fused__unsafe_view_mul_silu_9", "triton_poi_fused__unsafe_view_mul_silu_9"),
    ("triton_poi_fused_add_bitwise_and_bitwise_not_bitwise_or_ge_lt_mul_sub_0",
     "triton_poi_fused_add_bitwise_and…b8f4_0"),
    ("triton_per_fused__to_copy__unsafe_view_add_mean_mul_pow_rsqrt_12",
     "triton_per_fused__to_copy__unsafe_view…e9f9_12"),
    (("triton_poi_fused__scaled_dot_product_cudnn_attention__to_copy__unsafe_view_add_cat_clone_cos_expand_mul_neg"
     "_scalar_tensor_sin_slice_transpose_unsqueeze_view_where_16"),
     "triton_poi_fused__scaled_dot_product…3876_16"),
    ("triton_red_fused__to_copy_add_embedding_mean_mul_pow_rsqrt_0", "triton_red_fused__to_copy_add…a54b_0"),
    (f"triton_red_fused_{'a' * 60}_3", "triton_red_fused_aaaaaaaaaaaaaaaaaaaaa…59fd_3"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "short"), INDUCTOR)
def test_an_inductor_kernel_keeps_its_kind_its_first_ops_and_its_number(name: str, short: str) -> None:
    """Short lists stay whole; of a long one the rest is a checksum."""
    assert short_name(name) == short


def test_inductor_kernels_that_begin_alike_stay_apart() -> None:
    """Each compiled graph counts from 0, so kind, first ops and number may all be the same."""
    ops = ("cat", "clone", "cos", "expand", "mul", "neg", "sin", "slice", "view", "where")
    names = {f"triton_poi_fused__to_copy_add_{'_'.join(rest)}_0" for rest in combinations(ops, 4)}
    names |= {f"triton_poi_fused__to_copy_add_cat_clone_cos_expand_{number}" for number in range(100)}
    assert len({short_name(name) for name in names}) == len(names)


MANGLED = st.lists(
    st.sampled_from(
        ("N", "S_", "S1_", "I", "J", "L", "X", "F", "Z", "Ul", "E", "E_", "3foo", "6kernel", "Li4E", "v", "99", "é")
    )
)


@given(MANGLED.map("".join) | st.text("_ZNSTILEXUl0123456789abk"))
def test_any_mangled_text_has_a_short_name(text: str) -> None:
    """A name that only looks mangled, or is cut, is no error, and what is read of it is a part of it."""
    name = f"_Z{text}"
    short = short_name(name)
    assert short
    assert clean(short) == short
    assert all(part in name for part in short.split())


@pytest.mark.parametrize(
    "name", ["_ZN" + "IL" * 9999, "_Z" + "9" * 9999, "cutlass_" + "1x" * 9999, "triton_a_fused" + "_1" * 9999]
)
def test_a_very_long_name_takes_no_time(name: str) -> None:
    """Nobody waits for a name: the work grows no faster than it."""
    begin = time.perf_counter()
    assert short_name(name)
    assert time.perf_counter() - begin < 1


@given(st.text(min_size=1))
def test_a_short_name_is_clean_and_not_empty(name: str) -> None:
    """Whatever the name, there is something to show, and it is safe to show."""
    short = short_name(name)
    assert short
    assert clean(short) == short


def test_a_sequence_folds_repeats_and_counts_the_middle() -> None:
    """Repeats become a count; of many steps the first and the last stay."""
    assert sequence_label(["copy"] * 12 + ["norm"]) == "copy ×12 → norm"
    assert sequence_label(["a"]) == "a"
    assert sequence_label(list("abcd")) == "a → b → c → d"
    assert sequence_label(list("abcdef")) == "a → b → c → … 2 more … → f"
