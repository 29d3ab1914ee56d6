"""Samples of weft/ops/without_kernels.py."""

from tests.ops.sample import skip

SAMPLES = [
    skip(name, "it has no kernel; tests/ops/test_without_kernels.py")
    for name in (
        "None A B IntOutput Int64Output RefOutput FloatOutput TwoFloatOutputs FiveFloatOutputs "
        "RefOutputFloatOutput RefInputFloatInput IntInput IntInputIntOutput FloatInput "
        "TwoIntOutputs IntOutputFloatOutput FloatOutputStringOutput TwoIntInputs TwoFloatInputs "
        "IntInputFloatInput RefInputIntInput TwoFloatInputsFloatOutput TwoFloatInputsIntOutput "
        "RefInputFloatInputIntOutput Foo1 Foo2 Foo3 ListInput ListOutput Unary CopyOp "
        "OpWithDefaultAttr OpWithFutureDefaultAttr IntAttr Simple OutT "
        "RequiresOlderGraphVersion"
    ).split()
]
