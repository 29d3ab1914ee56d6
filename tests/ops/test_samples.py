"""Every sample against what TensorFlow gave: static shapes, gradients, NumPy, compiled.

The tests that need compiled programs come last: the programs are made meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.ops import replay
from tests.ops.sample import SHAPE_MODES, Sample, chosen_samples
from tests.parity import store
from weft.core import dtypes, errors
from weft.graph.op_def import REGISTRY

SAMPLES = [sample for sample in chosen_samples() if sample.op in REGISTRY]

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
LESS_INFORMED: dict[str, str] = {}

# Ops whose recorded gradient is not wanted of weft, and why.
OTHER_GRADIENT = {
    "RaggedRange": "TensorFlow 1.15 says nothing of it: no gradient is defined",
    "SegmentProd": "came after TensorFlow 1.15, where it has no gradient",
}
OTHER_SECOND_GRADIENT = {
    "BesselI1e": "TensorFlow gives NaN at 0",
    "SparseSoftmaxCrossEntropyWithLogits": "refused by TensorFlow 1.15",
}


def _in_group(sample: Sample) -> Any:
    """Samples that are compiled together are tested by one process."""
    batch = replay.batch_of(sample)
    marks = () if batch is None else pytest.mark.xdist_group(f"samples {batch}")
    return pytest.param(sample, marks=marks)


every_sample = pytest.mark.parametrize(
    "sample", [_in_group(sample) for sample in SAMPLES], ids=lambda sample: sample.id
)


@pytest.fixture(scope="module", autouse=True)
def compiler(request: pytest.FixtureRequest) -> Iterator[replay.Compiler]:
    """Compiles what the selected tests will ask for, while the others run."""
    wanted = {i.callspec.params["sample"]: None for i in filter(asks, request.session.items)}
    alone = not hasattr(request.config, "workerinput")
    compiler = replay.Compiler(wanted, eager=alone)
    yield compiler
    compiler.close()


def asks(item: Any) -> bool:
    """Whether a test wants the compiled sample."""
    function = getattr(item, "function", None)
    if function not in (test_on_numpy, test_compiled):
        return False
    sample = item.callspec.params["sample"]
    return replay.compilable(sample) and (
        function is test_compiled or REGISTRY[sample.op].needs_xla
    )


def recorded(sample: Sample) -> store.Record:
    record = replay.records().get(sample.key)
    if record is None:
        pytest.fail("not recorded: run `.venv-tf/bin/python -m tests.parity.record`")
    return record


def check(sample: Sample, what: str, have: Any, want: store.Value | None) -> None:
    if want is None or have is None:
        assert have is None and want is None, f"{what}: wanted {want}, got {have}"
        return
    have = np.asarray(have)
    storage = dtypes.as_dtype(want.dtype).np_storage
    assert have.dtype == storage, f"{what}: wanted dtype {want.dtype}, got {have.dtype}"
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


@every_sample
def test_static_shapes(sample: Sample) -> None:
    record = recorded(sample)
    if not record.shapes:
        pytest.skip(record.missing or "nothing recorded")
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
                assert fits(dims, shape), f"{mode}: {dims} is not {shape}"
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


def with_gradient(order: int) -> Any:
    """The samples that have a gradient of this order to compare with."""
    params = []
    for sample in SAMPLES:
        record = replay.records().get(sample.key)
        if sample.grad is False or sample.op in OTHER_GRADIENT or record is None:
            continue
        if order == 1 and record.grads is not None:
            params.append(pytest.param(sample, id=sample.id))
        if order == 2 and record.grads2 is not None and sample.op not in OTHER_SECOND_GRADIENT:
            # Kernels that need XLA are compiled one by one here, which takes its time.
            marks = [pytest.mark.slow] if REGISTRY[sample.op].needs_xla else []
            params.append(pytest.param(sample, id=sample.id, marks=marks))
    return pytest.mark.parametrize("sample", params)


@with_gradient(order=1)
def test_gradient(sample: Sample) -> None:
    record = recorded(sample)
    check_all(sample, "gradient", replay.gradients(sample, record), record.grads)


@with_gradient(order=2)
def test_second_gradient(sample: Sample) -> None:
    record = recorded(sample)
    check_all(sample, "gradient", replay.gradients(sample, record, 2), record.grads2)


@every_sample
def test_on_numpy(sample: Sample, compiler: replay.Compiler) -> None:
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


@pytest.mark.parametrize(
    "sample", [s for s in SAMPLES if replay.compilable(s)], ids=lambda sample: sample.id
)
def test_compiled(sample: Sample, compiler: replay.Compiler) -> None:
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
