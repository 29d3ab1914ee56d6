"""Random ops draw what TensorFlow draws: three runs of each case in `record_random`."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.parity.record_random import CASES, RUNS, Case, kept, load
from weft.client.session import Session
from weft.core import dtypes
from weft.graph.graph import Graph, Operation
from weft.graph.kernel_call import bind, flat_arg_names
from weft.graph.op_def import raw
from weft.graph.random_seed import DEFAULT_GRAPH_SEED, get_seed, set_random_seed
from weft.ops import candidate_sampling, philox, random  # noqa: F401

ALL = [pytest.param(f, c, id=c.name) for f, cases in CASES.items() for c in cases]
# XLA takes long over loops: of the ops that have one, and of seeds, a few cases will do every day.
LOOPS = ("Truncated", "Gamma", "Poisson")
TWO = ("_float32", "_float64", "_float32_int32", "_float64_int64")


def is_slow(case: Case) -> bool:
    loops = any(word in case.op for word in LOOPS)
    return "_seeds_" in case.name or (loops and case.name.removeprefix(case.op) not in TWO)


TRACEABLE = [
    pytest.param(f, c, id=c.name, marks=[pytest.mark.slow] * is_slow(c))
    for f, cases in CASES.items()
    for c in cases
    if raw.__getattr__(c.op).runs_on == "any"
]
# Ops whose results depend on log, sin, cos or exp, which libraries round differently.
ROUNDED = ("Normal", "Gamma", "Sampler")


def build(case: Case) -> Operation:
    """The case's node in the default graph."""
    attrs = {
        name: dtypes.as_dtype(value) if name.endswith("dtype") else value
        for name, value in case.attrs.items()
    }
    outputs = getattr(raw, case.op)(**case.inputs, **attrs)
    return (outputs[0] if isinstance(outputs, tuple) else outputs).op


def check(family: str, case: Case, runs: list[list[np.ndarray]]) -> None:
    records = load(family)
    for key, actual in kept(runs, case.limit).items():
        wanted = records[f"{case.name}/{key}"]
        assert actual.dtype == wanted.dtype
        assert actual.shape == wanted.shape
        if not any(word in case.op for word in ROUNDED):
            np.testing.assert_array_equal(actual, wanted)
        elif actual.dtype == np.uint16:
            kind = ml_dtypes.bfloat16 if "bfloat16" in case.name else np.float16
            actual, wanted = (a.view(kind).astype(np.float32) for a in (actual, wanted))
            np.testing.assert_allclose(actual, wanted, rtol=1e-2, atol=1e-3)
        elif not key.endswith(".crc"):
            close = 1e-12 if actual.dtype == np.float64 else 2e-6
            np.testing.assert_allclose(actual, wanted, rtol=close, atol=close)


class Store:
    """What a kernel that takes `ctx` needs of a session's resources."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.rng: dict[str, np.ndarray] = {}
        self.made: dict[str, Any] = {}

    def get_or_make(self, container: str, kind: str, name: str, make: Any) -> Any:
        return self.made.setdefault(kind, make())


def kernel_runs(node: Operation, call: Any, inputs: list[Any]) -> list[list[np.ndarray]]:
    """Three runs with the generator moved on in between, as a session does it."""
    definition = raw.__getattr__(node.type)
    rng = philox.initial_state(node.attrs.get("seed", 0), node.attrs.get("seed2", 0))
    ctx = SimpleNamespace(resources=Store(), node=node)
    runs = []
    for _ in range(RUNS):
        extra = [rng] if definition.takes_rng else [ctx] if definition.takes_ctx else []
        outputs = [np.asarray(value) for value in call(inputs, *extra)]
        runs.append(outputs)
        if definition.takes_rng:
            rng = philox.advance(rng, definition.random(outputs[0].shape, node.attrs))
    return runs


@pytest.mark.parametrize(("family", "case"), ALL)
def test_numpy_kernel(family: str, case: Case) -> None:
    with Graph().as_default():
        node = build(case)
    call = bind(raw.__getattr__(node.type), node.attrs)
    if raw.__getattr__(node.type).xla:
        pytest.skip("only XLA has this kernel")
    with np.errstate(all="ignore"):
        runs = kernel_runs(node, lambda i, *e: call(np, i, *e), list(case.inputs.values()))
    check(family, case, runs)


@pytest.mark.parametrize(("family", "case"), TRACEABLE)
def test_compiled_kernel(family: str, case: Case) -> None:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    with Graph().as_default():
        node = build(case)
    definition = raw.__getattr__(node.type)
    call = bind(definition, node.attrs)
    names = flat_arg_names(definition, node.attrs)
    static = {i: v for i, v in enumerate(case.inputs.values()) if names[i] in definition.static}

    def program(inputs: list[Any], *extra: Any) -> Any:
        inputs = [static.get(i, value) for i, value in enumerate(inputs)]
        return call(jnp, inputs, *extra)

    check(family, case, kernel_runs(node, jax.jit(program), list(case.inputs.values())))


def test_sessions_carry_streams_on() -> None:
    """One case of each op, three steps of one session: interpreted, compiled, on the host."""
    chosen = {
        case.op: (family, case) for family, cases in CASES.items() for case in reversed(cases)
    }
    with Graph().as_default():
        fetches = [list(build(case).outputs) for _, case in chosen.values()]
        with Session() as session, np.errstate(all="ignore"):
            steps = [session.run(fetches) for _ in range(RUNS)]
    for i, (family, case) in enumerate(chosen.values()):
        check(family, case, [step[i] for step in steps])


def test_sessions_start_anew() -> None:
    with Graph().as_default():
        drawn = random.random_uniform([3], seed=1)
        firsts = []
        for _ in range(2):
            with Session() as session:
                firsts.append(session.run(drawn))
                assert (session.run(drawn) != firsts[0]).any()
    np.testing.assert_array_equal(*firsts)


def test_blocks_carry_through_the_whole_counter() -> None:
    near_the_end = np.array([1, 2, 2**32 - 2, 2**32 - 1, 2**32 - 1, 5], np.uint32)
    words = np.stack(philox.blocks(np, near_the_end, 4))
    moved = philox.advance(near_the_end, 3)
    np.testing.assert_array_equal(moved, np.array([1, 2, 1, 0, 0, 6], np.uint32))
    np.testing.assert_array_equal(np.stack(philox.blocks(np, moved, 1))[:, 0], words[:, 3])


def test_unseeded_generators_differ() -> None:
    assert (philox.initial_state(0, 0) != philox.initial_state(0, 0)).any()


def test_random_bits_pass_for_uniform() -> None:
    values = philox.uniform(np, philox.initial_state(1, 2), (100_000,), np.float32)
    counts, _ = np.histogram(values, bins=50, range=(0, 1))
    assert abs(counts - 2000).max() < 250


class TestSeeds:
    def test_neither(self) -> None:
        with Graph().as_default():
            assert get_seed(None) == (None, None)

    def test_op_seed_only(self) -> None:
        with Graph().as_default():
            assert get_seed(5) == (DEFAULT_GRAPH_SEED, 5)
            assert get_seed(2**31) == (DEFAULT_GRAPH_SEED, 1)

    def test_graph_seed_counts_operations(self) -> None:
        with Graph().as_default():
            set_random_seed(9)
            assert get_seed(None) == (9, 0)
            raw.NoOp()
            assert get_seed(None) == (9, 1)
            assert get_seed(4) == (9, 4)

    def test_two_zeros_are_not_taken_for_unseeded(self) -> None:
        with Graph().as_default():
            set_random_seed(0)
            assert get_seed(0) == (0, 2**31 - 1)
