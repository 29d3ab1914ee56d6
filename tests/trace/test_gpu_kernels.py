"""Kernels of a GPU's graph and the instructions of a program, as XLA prints one."""

import pytest

from weft.runtime.xla.gpu_kernels import Schedule

PROGRAM = """HloModule jit_weft_0, is_scheduled=true, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

%fused_add (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %add.9 = f32[4]{0} add(%p, %p)
}

%fused_mul.1 (p.1: f32[4]) -> (f32[4], f32[]) {
  %p.1 = f32[4]{0} parameter(0)
  ROOT %t = (f32[4]{0}, f32[]) tuple(%p.1, %p.1)
}

%body (at: (s32[], f32[4])) -> (s32[], f32[4]) {
  %at = (s32[], f32[4]{0}) parameter(0)
  %loop_add_fusion.7 = f32[4]{0} fusion(%at), kind=kLoop, calls=%fused_add
  ROOT %tuple.1 = (s32[], f32[4]{0}) tuple(%at, %loop_add_fusion.7)
}

%left (x.1: f32[4]) -> f32[4] {
  %x.1 = f32[4]{0} parameter(0)
  ROOT %loop_left_fusion = f32[4]{0} fusion(%x.1), kind=kLoop, calls=%fused_add
}

%right (x.2: f32[4]) -> f32[4] {
  %x.2 = f32[4]{0} parameter(0)
  ROOT %loop_right_fusion.3 = f32[4]{0} fusion(%x.2), kind=kLoop, calls=%fused_add
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %wrapped_convert = bf16[4]{0} fusion(%x), kind=kLoop, calls=%fused_add
  %wrapped_convert.1 = bf16[8]{0} fusion(%x), kind=kLoop, calls=%fused_add
  %loop_add_fusion = f32[4]{0} fusion(%x), kind=kLoop, calls=%fused_add, metadata={op_name="a" deduplicated_name="loop_add_fusion"}
  %custom-call.1 = (f32[4]{0}, s8[16]{0}) custom-call(%loop_add_fusion), custom_call_target="__cublas$gemm"
  %bitcast.3 = f32[4]{0} bitcast(%custom-call.1)
  %loop_mul_fusion.1 = (f32[4]{0}, f32[]) fusion(%bitcast.3), kind=kLoop, calls=%fused_mul.1
  %loop_add_fusion.1 = f32[4]{0} fusion(%x), kind=kLoop, calls=%fused_add, metadata={op_name="b" deduplicated_name="loop_add_fusion"}
  %custom-call.2 = f32[4]{0} custom-call(%loop_add_fusion.1), custom_call_target="__cublas$gemm"
  %wrapped_convert.2 = bf16[4]{0} fusion(%x), kind=kLoop, calls=%fused_add
  %copy.4 = f32[4]{0} copy(%custom-call.2)
  %while.1 = (s32[], f32[4]{0}) while(%copy.4), condition=%test, body=%body
  %conditional.2 = f32[4]{0} conditional(%x, %x, %x), branch_computations={%left, %right}
  ROOT %loop_add_fusion.2 = f32[4]{0} fusion(%copy.4), kind=kLoop, calls=%fused_add, metadata={deduplicated_name="loop_add_fusion"}
}
"""  # noqa: E501

RUN = (
    "wrapped_convert wrapped_convert_1 loop_add_fusion_2 gemm loop_mul_fusion_1 loop_add_fusion_2"
    " gemm_a wrapped_convert memcpy loop_add_fusion_7"
    " loop_add_fusion_7 loop_right_fusion_3 loop_add_fusion_2"
).split()
INSTRUCTIONS = (
    "wrapped_convert wrapped_convert.1 loop_add_fusion custom-call.1 loop_mul_fusion.1"
    " loop_add_fusion.1 custom-call.2 wrapped_convert.2 copy.4 loop_add_fusion.7"
    " loop_add_fusion.7 loop_right_fusion.3 loop_add_fusion.2"
).split()


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_kernels_belong_to_instructions_by_name_and_order(runs):
    assert Schedule(PROGRAM).instructions_of(RUN * runs) == INSTRUCTIONS * runs


@pytest.mark.parametrize("first", range(4))
def test_a_recording_may_begin_within_a_run(first):
    found = Schedule(PROGRAM).instructions_of(RUN[first:] + RUN)
    assert found[-len(RUN) :] == INSTRUCTIONS


def test_a_call_of_a_library_may_be_several_kernels():
    kernels = ["loop_add_fusion_2", "gemm", "gemm_reduce", "loop_mul_fusion_1"]
    found = Schedule(PROGRAM).instructions_of(kernels)
    assert found == ["loop_add_fusion", "custom-call.1", "custom-call.1", "loop_mul_fusion.1"]


@pytest.mark.parametrize("text", ["", "HloModule empty\n"])
def test_of_a_program_that_is_gone_nothing_is_known(text):
    assert Schedule(text).instructions_of(["gemm", "loop_add_fusion"]) == ["", ""]
