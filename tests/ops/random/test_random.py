"""Random ops draw what TensorFlow draws: three runs of each case in `record_random`."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import weft as tf
from tests.parity.record_random import CASES, RUNS, Case, kept, load
from weft.autodiff.gradients import gradients
from weft.client.session import Session
from weft.core import dtypes, errors, flags
from weft.graph.convert import constant
from weft.graph.graph import Graph, Operation, get_default_graph
from weft.graph.kernel_call import bind, flat_arg_names
from weft.graph.op_def import raw
from weft.graph.random_seed import DEFAULT_GRAPH_SEED, get_seed, set_random_seed
from weft.ops.kit import philox
from weft.ops.math import math
from weft.ops.nn import candidate_sampling  # noqa: F401
from weft.ops.random import blockwise, random

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
    if raw.__getattr__(node.type).needs_xla:
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


def test_sizes_may_be_small_integers() -> None:
    with Graph().as_default():
        assert random.truncated_normal([np.uint8(3)]).dims == (3,)
        assert random.random_uniform([2, np.int16(5)]).dims == (2, 5)
        with pytest.raises(TypeError, match="uint8"):
            random.random_normal(np.array([3], np.uint8))


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


class TestFunctions:
    def nodes(self) -> list[str]:
        return [f"{op.name}={op.type}" for op in get_default_graph().get_operations()]

    def test_uniform_floats_are_scaled(self) -> None:
        out = random.random_uniform([2], 1.0, 3.0, seed=5)
        scope = [f"random_uniform/{part}" for part in ("shape=Const", "min=Const", "max=Const")]
        scope += ["random_uniform/RandomUniform=RandomUniform", "random_uniform/sub=Sub"]
        assert self.nodes() == [*scope, "random_uniform/mul=Mul", "random_uniform=Add"]
        assert out.op.name == "random_uniform"

    def test_integers_are_drawn_directly(self) -> None:
        random.random_uniform([], maxval=9, dtype=dtypes.int64, name="pick")
        assert self.nodes()[-1] == "pick=RandomUniformInt"

    @pytest.mark.parametrize("make", [random.random_normal, random.truncated_normal])
    def test_normal_values_are_scaled(self, make: Any) -> None:
        make([2, 3], stddev=2.0, name="n")
        assert [node.partition("=")[0] for node in self.nodes()[:3]] == [
            "n/shape",
            "n/mean",
            "n/stddev",
        ]
        assert self.nodes()[4:] == ["n/mul=Mul", "n=Add"]

    def test_graph_seed_reaches_the_op(self) -> None:
        set_random_seed(3)
        random.random_uniform([1])
        node = get_default_graph().get_operation_by_name("random_uniform/RandomUniform")
        assert (node.attrs["seed"], node.attrs["seed2"]) == (3, 3)

    def test_integers_need_a_bound(self) -> None:
        with pytest.raises(ValueError, match="Must specify maxval for integer dtype"):
            random.random_uniform([1], dtype=dtypes.int32)

    def test_shape_may_be_fed(self) -> None:
        shape = raw.Placeholder(dtype=dtypes.int32, shape=(2,))
        out = random.truncated_normal(shape, seed=1)
        assert out.dims == (None, None)
        with Session() as session:
            assert session.run(out, {shape: [3, 4]}).shape == (3, 4)
            assert session.run(out, {shape: [5, 0]}).shape == (5, 0)

    def test_bad_shapes_are_told(self) -> None:
        shape = raw.Placeholder(dtype=dtypes.int32, shape=None)
        out = random.random_uniform(shape)
        with Session() as session:
            with pytest.raises(errors.InvalidArgumentError, match="Dimension -1 must be >= 0"):
                session.run(out, {shape: [-1]})
            with pytest.raises(errors.InvalidArgumentError, match="must be a vector"):
                session.run(out, {shape: 3})

    def test_crop_lies_within(self) -> None:
        out = random.random_crop(np.arange(20).reshape(4, 5), [2, 3], seed=1)
        with Session() as session:
            for _ in range(5):
                crop = session.run(out)
                np.testing.assert_array_equal(crop - crop[0, 0], [[0, 1, 2], [5, 6, 7]])
                assert crop[0, 0] % 5 <= 2

    @pytest.mark.slow
    def test_gamma_values_move_with_alpha(self) -> None:
        alpha = constant([0.7, 3.0])
        mean = math.reduce_mean(random.random_gamma([2000], alpha, seed=1), axis=0)
        (slope,) = gradients(mean, [alpha])
        with Session() as session:  # the expected value is alpha itself
            np.testing.assert_allclose(session.run(slope), [1, 1], atol=0.1)


@pytest.mark.parametrize("samples", [1, 3, 40])
def test_categories_of_many_classes_compiled(samples: int) -> None:
    """Blocks of classes are searched in compiled code, one class after the other without it."""
    rng = np.random.RandomState(0)
    logits = rng.randn(5, 700).astype(np.float32)
    logits[:, ::3] = -np.inf
    logits[1, :650] = -np.inf
    found = []
    for is_compiled in (True, False):
        with tf.Graph().as_default(), tf.Session() as session:
            fed = tf.placeholder_with_default(logits, [5, 700])
            drawn = tf.multinomial(fed, samples, seed=7)
            with flags.XLA.override(is_compiled):
                found.append([session.run(drawn) for _ in range(4)])
    np.testing.assert_array_equal(found[0], found[1])
    assert np.isfinite(np.take_along_axis(logits, found[0][-1], axis=1)).all()


def test_a_draw_behind_its_block_stays_with_the_last_class_of_weight() -> None:
    weights = np.zeros((1, 640))
    weights[0, [3, 70]] = 1e-300, 1.0
    drawn = blockwise.find(np, weights, np.array([[1.0 - 1e-16, 0.0, 0.5]]))
    assert drawn.tolist() == [[70, 3, 70]]


MANY = [
    lambda xp, rng, shape: philox.uniform(xp, rng, shape, np.float32),
    lambda xp, rng, shape: philox.uniform(xp, rng, shape, np.float64),
    lambda xp, rng, shape: philox.uniform(xp, rng, shape, np.float16),
    lambda xp, rng, shape: philox.normal(xp, rng, shape, np.float32),
    lambda xp, rng, shape: philox.normal(xp, rng, shape, np.float64),
    lambda xp, rng, shape: philox.uniform_int(xp, rng, shape, -5, 900, np.int32),
    lambda xp, rng, shape: philox.uniform_int(xp, rng, shape, -5, 900, np.int64),
]


@pytest.mark.on_host
@pytest.mark.parametrize("draw", MANY)
def test_many_values_of_blocks_drawn_once(draw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where blocks have a loop of their own, the values are those of a loop over all values."""
    import jax

    jax.config.update("jax_enable_x64", True)
    rng, shape = np.array([1, 2, 2**32 - 9, 2**32 - 1, 2**32 - 1, 3], np.uint32), (61, 77)
    found = []
    for many in (1, 2**30):
        monkeypatch.setattr(philox, "_MANY", many)
        lowered = jax.jit(lambda rng: draw(jax.numpy, rng, shape)).lower(rng)
        assert ("weft_apart_" in lowered.as_text()) == (many == 1)
        found.append(np.asarray(lowered.compile()(rng)))
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], draw(np, rng, shape), rtol=1e-5, atol=1e-6)
