"""Every sample against what TensorFlow gave: static shapes, gradients, NumPy, compiled.

A test checks all samples of an op, and tells all that fail. The tests that need compiled programs
come last: the programs are made meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.ops import replay
from tests.ops.sample import SHAPE_MODES, Sample, chosen_samples
from tests.parity import store
from weft.core import dtypes, errors
from weft.graph.op_def import REGISTRY

# (relative, absolute) tolerance by dtype; integers, bools and strings are compared exactly.
TOLERANCE = {
    "float64": (1e-11, 1e-13),
    "complex128": (1e-11, 1e-13),
    "float32": (1e-5, 1e-6),
    "complex64": (1e-5, 1e-6),
    "float16": (4e-3, 1e-3),
    "bfloat16": (3e-2, 1e-2),
}

# Ops whose shape rules may know less than TensorFlow's, and why that is all right.
LESS_INFORMED = {
    name: "TensorFlow 1.15 takes what may be a matrix for a vector"
    for name in ("UniqueV2", "UniqueWithCountsV2")
}

# Ops, and with them their gradients, that have scalars in TensorFlow where its shape rules, and
# so weft, say that there is nothing, or a number for each channel.
SAID_OTHERWISE = {
    f"FusedBatchNorm{kind}{form}" for kind in ("", "Grad") for form in ("", "V2", "V3")
}

# Ops whose recorded gradient is not wanted of weft, and why.
OTHER_GRADIENT = {
    "RaggedRange": "TensorFlow 1.15 says nothing of it: no gradient is defined",
    "SegmentProd": "came after TensorFlow 1.15, where it has no gradient",
    "SparseSoftmaxCrossEntropyWithLogits": "TensorFlow 1.15 has none by the second output",
}
OTHER_SECOND_GRADIENT = {
    "BesselI1e": "TensorFlow gives NaN at 0",
    "Prod": "that of the Cumprod in its gradient is NaN at 0 in TensorFlow 1.15",
}


def of_each_op(belongs: Callable[[Sample], bool], slow: Callable[[str], bool] | None = None) -> Any:
    """Gives a test the samples of each op that belong to it."""
    chosen, params = set(chosen_samples()), []
    for op, samples in replay.by_op().items():
        samples = [sample for sample in samples if sample in chosen and belongs(sample)]
        marks = [pytest.mark.slow] if slow is not None and slow(op) else []
        if samples:
            params.append(pytest.param(samples, id=op, marks=marks))
    return pytest.mark.parametrize("samples", params)


@pytest.fixture(scope="module", autouse=True)
def compiler(request: pytest.FixtureRequest) -> Iterator[replay.Compiler]:
    """Compiles what the selected tests will ask for, while the others run."""
    wanted = {sample: None for item in request.session.items for sample in asked_by(item)}
    alone = not hasattr(request.config, "workerinput")
    compiler = replay.Compiler(wanted, eager=alone)
    yield compiler
    compiler.close()


def asked_by(item: Any) -> Iterator[Sample]:
    """The samples that a test wants compiled."""
    function = getattr(item, "function", None)
    if function in (test_on_numpy, test_compiled):
        for sample in filter(replay.compilable, item.callspec.params["samples"]):
            if function is test_compiled or REGISTRY[sample.op].needs_xla:
                yield sample


def recorded(sample: Sample) -> store.Record:
    record = replay.records().get(sample.key)
    if record is None:
        raise AssertionError("not recorded: run `make record`")
    return record


def check(sample: Sample, what: str, have: Any, want: store.Value | None) -> None:
    if want is None or have is None:
        assert have is None and want is None, f"{what}: wanted {want}, got {have}"
        return
    have = np.asarray(have)
    storage = dtypes.as_dtype(want.dtype).np_storage
    assert have.dtype == storage, f"{what}: wanted dtype {want.dtype}, got {have.dtype}"
    if have.shape != () and is_said_otherwise(sample, want.array.shape):
        assert have.ndim == 1 and not have.any(), f"{what}: wanted zeros, got {have}"
        return
    assert have.shape == want.array.shape, f"{what}: wanted {want.array.shape}, got {have.shape}"
    if want.dtype not in TOLERANCE:
        np.testing.assert_array_equal(have, want.array, err_msg=what)
        return
    rtol, atol = TOLERANCE[want.dtype]
    if sample.rtol is not None:
        rtol = atol = sample.rtol
    wide = np.complex128 if storage.kind == "c" else np.float64
    np.testing.assert_allclose(
        have.astype(wide), want.array.astype(wide), rtol, atol, equal_nan=True, err_msg=what
    )


def is_said_otherwise(sample: Sample, shape: Any) -> bool:
    return sample.op in SAID_OTHERWISE and shape == ()


def check_all(sample: Sample, what: str, have: Any, want: Any) -> None:
    assert len(have) == len(want), f"{what}: wanted {len(want)}, got {len(have)}"
    for i, (ours, theirs) in enumerate(zip(have, want, strict=True)):
        check(sample, f"{what} {i}", ours, theirs)


def check_run(sample: Sample, record: store.Record, found: Any) -> None:
    outputs, state = found
    kinds = replay.output_types(sample)
    outputs = [out for out, kind in zip(outputs, kinds, strict=True) if kind != "resource"]
    check_all(sample, "output", outputs, record.outputs)
    if record.state is not None:
        check_all(sample, "variable", state, record.state)


def has_shapes(sample: Sample) -> bool:
    record = replay.records().get(sample.key)
    return record is None or bool(record.shapes)


@of_each_op(has_shapes)
def test_static_shapes(samples: list[Sample]) -> None:
    replay.check_each(samples, check_static_shapes)


def check_static_shapes(sample: Sample) -> None:
    record = recorded(sample)
    real = None if record.outputs is None else [v.array.shape for v in record.outputs]
    vague = []
    for mode in SHAPE_MODES:
        theirs = record.shapes[mode]
        try:
            ours = replay.static_shapes(sample, mode)
        except (ValueError, errors.OpError):
            assert theirs is None, f"{mode}: refused what TensorFlow builds as {theirs}"
            continue
        if theirs is None:
            if mode == "known":
                vague.append(f"{mode}: accepted what TensorFlow refuses: {record.message}")
            continue
        if real is not None and len(real) == len(ours):
            for dims, shape in zip(ours, real, strict=True):
                said = is_said_otherwise(sample, shape) and (dims is None or len(dims) == 1)
                assert said or fits(dims, shape), f"{mode}: {dims} is not {shape}"
        if real is not None and not all(map(fits, theirs, real)):
            continue  # TensorFlow's own rule is wrong here
        if any(map(less_informed, ours, theirs)):
            shown = store.show_shapes(ours), store.show_shapes(theirs)
            vague.append("{}: {}, TensorFlow knows {}".format(mode, *shown))
    if sample.op not in LESS_INFORMED:
        assert not vague, "; ".join(vague)


def fits(dims: Any, shape: tuple[int, ...]) -> bool:
    return dims is None or (
        len(dims) == len(shape) and all(d in (None, n) for d, n in zip(dims, shape, strict=True))
    )


def less_informed(ours: Any, theirs: Any) -> bool:
    if ours is None or theirs is None:
        return ours is None and theirs is not None
    if len(ours) != len(theirs):
        return False
    return any(a is None and b is not None for a, b in zip(ours, theirs, strict=True))


def has_gradient(sample: Sample) -> bool:
    """Whether the sample has a gradient to compare with."""
    record = replay.records().get(sample.key)
    wanted = sample.grad is not False and sample.op not in OTHER_GRADIENT
    return wanted and record is not None and record.grads is not None


def has_second_gradient(sample: Sample) -> bool:
    record = replay.records().get(sample.key)
    wanted = sample.grad is not False and sample.op not in OTHER_GRADIENT | OTHER_SECOND_GRADIENT
    return wanted and record is not None and record.grads2 is not None


@of_each_op(has_gradient)
def test_gradient(samples: list[Sample]) -> None:
    replay.check_each(samples, check_gradient)


def check_gradient(sample: Sample) -> None:
    record = recorded(sample)
    check_all(sample, "gradient", replay.gradients(sample, record), record.grads)


# Kernels that need XLA are compiled one by one here, which takes its time.
@of_each_op(has_second_gradient, slow=lambda op: REGISTRY[op].needs_xla)
def test_second_gradient(samples: list[Sample]) -> None:
    replay.check_each(samples, check_second_gradient)


def check_second_gradient(sample: Sample) -> None:
    record = recorded(sample)
    check_all(sample, "gradient", replay.gradients(sample, record, 2), record.grads2)


@of_each_op(lambda sample: True)
def test_on_numpy(samples: list[Sample], compiler: replay.Compiler) -> None:
    replay.check_each(samples, lambda sample: check_on_numpy(sample, compiler))


def check_on_numpy(sample: Sample, compiler: replay.Compiler) -> None:
    record = recorded(sample)
    if record.error is not None:
        with pytest.raises(getattr(errors, record.error)):
            replay.on_numpy(sample, compiler)
        return
    if record.build_error is not None and record.outputs is None:
        with pytest.raises((ValueError, TypeError, errors.OpError)):
            replay.static_shapes(sample, "known")
            replay.on_numpy(sample, compiler)
        return
    found = replay.on_numpy(sample, compiler)
    if record.missing is None:
        check_run(sample, record, found)


@of_each_op(replay.compilable)
def test_compiled(samples: list[Sample], compiler: replay.Compiler) -> None:
    replay.check_each(samples, lambda sample: check_compiled(sample, compiler))


def check_compiled(sample: Sample, compiler: replay.Compiler) -> None:
    record = recorded(sample)
    found = compiler.result(sample)
    if record.missing is None:
        check_run(sample, record, found)
    else:
        # Nothing of TensorFlow's to compare with; the two ways of weft must still agree.
        outputs, _ = replay.on_numpy(sample, compiler)
        names = replay.output_types(sample)
        want = [store.Value(n, np.asarray(v)) for n, v in zip(names, outputs, strict=True)]
        check_all(sample, "output", found[0], want)


def test_all_that_fail_are_told() -> None:
    samples = replay.by_op()["Cast"][:3]

    def fail(sample: Sample) -> None:
        assert sample is samples[1], sample.key

    with pytest.raises(ExceptionGroup, match="of 3 samples fail 2") as caught:
        replay.check_each(samples, fail)
    for error, sample in zip(caught.value.exceptions, (samples[0], samples[2]), strict=True):
        assert sample.key in str(error) and error.__notes__ == [f"the sample is {sample!r}"]
