"""Tensors and programs that there is no memory for: an error, and the process goes on."""

from __future__ import annotations

import contextlib
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.sample import Sample, all_samples
from weft.core import flags, machine
from weft.graph.op_def import REGISTRY
from weft.graph.shape_fn import ShapeContext
from weft.ops.kit import room as kit_room
from weft.runtime.host import expected_shapes
from weft.runtime.xla.room import is_countable

GIB = 1 << 30

# Each is a graph of a fed shape `n`. Run in one process: that one must survive all of them.
GRAPHS = {
    "fill": "tf.fill(n, 1.0) + 1.0",
    "normal": "tf.random_normal(n)",
    "uniform": "tf.random_uniform(n)",
    "two": "[tf.zeros(n), tf.ones(n)]",
    "scatter": "tf.scatter_nd(tf.constant([[1]], tf.int64), [1.5], n)",
    "cumsum": "tf.cumsum(tf.fill(n, 1.0))",
    "sort": "tf.sort(tf.fill(n, 1.0))",
    "matmul": "tf.matmul(tf.fill(tf.concat([n, [1]], 0), 1.0), tf.ones([1, 2]))",
    "pad": "tf.pad(tf.random_uniform([1]), tf.stack([tf.concat([[1], n], 0)]))",
    "broadcast": "tf.broadcast_to(tf.random_uniform([]), n)",
    "tile": "tf.tile(tf.random_uniform([1]), n)",
    "range": "tf.range(n[0])",
    "one hot": "tf.one_hot([1, 2], tf.cast(tf.minimum(n[0], 2**31 - 1), tf.int32))",
    "branch": "tf.cond(n[0] > 0, lambda: tf.fill(n, 1.0), lambda: tf.ones([1]))",
}
STEPS = """
import resource, sys
import numpy as np, weft as tf
target, size, limit = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if limit:
    import jax
    jax.jit(lambda v: v + 1)(1.0).block_until_ready()  # the threads of XLA have their stacks now
    with open("/proc/self/statm") as sizes:
        limit += int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
if target:
    server = tf.train.Server.create_local_server()
    target = server.target
n = tf.placeholder(tf.int64, [None])
x = tf.placeholder(tf.float32, [None, 2])
made = {name: eval(graph) for name, graph in GRAPHS.items()}
with tf.Session(target) as session:
    for name, graph in made.items():
        for _ in range(3):
            try:
                session.run(graph, {n: [size]})
                print(name, "ok")
            except Exception as error:
                words = str(error)
                print(name, type(error).__name__, words[words.find("OOM") :].partition(" on ")[0])
    print(session.run(tf.reduce_sum(x), {x: np.ones([3, 2])}))
"""


def outcomes(
    target: str, size: int, graphs: dict[str, str] = GRAPHS, limit: int = 0, steps: str = STEPS
) -> list[str]:
    """What each step came to in a process of its own, which must end by itself."""
    source = f"GRAPHS = {graphs!r}\n{steps}"
    command = [sys.executable, "-c", source, target, str(size), str(limit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    *lines, last = done.stdout.splitlines()
    assert last == "6.0"
    assert len(lines) == 3 * len(graphs)
    return lines


@pytest.mark.parametrize("target", ["", "server"])
@pytest.mark.parametrize("size", [1 << 40, (1 << 62) - 8])
def test_what_no_machine_has_memory_for(target: str, size: int) -> None:
    graphs = {name: graph for name, graph in GRAPHS.items() if name != "one hot"}
    for line in outcomes(target, size, graphs):
        assert "ResourceExhaustedError OOM when allocating tensor with shape[" in line


def test_what_this_process_has_no_memory_for() -> None:
    graphs = {name: GRAPHS[name] for name in ("fill", "normal", "two", "broadcast", "one hot")}
    if machine.memory() < 16 * GIB:
        pytest.skip("a machine that has no memory at all for it is another test")
    for line in outcomes("", 1 << 30, graphs, limit=3 * GIB):
        assert "ResourceExhaustedError OOM when allocating tensor with shape[" in line


# More ways to ask for much with few bytes: on the host, in loops, by values of other nodes.
MORE = {
    "known depth": "tf.one_hot([1, 2], tf.cast(n[0], tf.int32))",
    "loop": "tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, tf.concat([x, tf.fill(n, 1.0)],"
    " 0)), [0, tf.zeros([1])], [tf.TensorShape([]), tf.TensorShape([None])])[1]",
    "map": "tf.map_fn(lambda k: tf.reduce_sum(tf.fill([k], 1.0)), n, tf.float32)",
    "strings": "tf.strings.length(tf.fill(n, 'abc'))",
    "tiled strings": "tf.tile(['abc'], n)",
    "where": "tf.where(tf.fill(n, True))",
    "mask": "tf.sequence_mask(n)",
    "counts": "tf.bincount(tf.cast(n, tf.int32))",
    "sparse": "tf.sparse.to_dense(tf.SparseTensor([[1]], [1.5], n))",
    "linspace": "tf.linspace(0.0, 1.0, tf.cast(n[0], tf.int32))",
    "eye": "tf.eye(tf.cast(n[0] // 4096, tf.int32))",
    "categorical": "tf.random.categorical([[0.5, 0.5]], tf.cast(n[0], tf.int32))",
    "all pairs": "tf.reshape(tf.range(n[0] // 8192), [-1, 1]) + tf.range(n[0] // 8192)",
    "unique": "tf.unique(tf.fill(n, 1.0))",
    "function": "tf.py_func(lambda k: k, [tf.fill(n, 1.0)], tf.float32)",
    "eagerly": "tf.py_function(lambda k: tf.fill(k, 1.0), [n], tf.float32)",
    "segments": "tf.unsorted_segment_sum([1.0], [0], n[0])",
    "gather": "tf.gather(tf.random_uniform([1]), tf.fill(n, 0))",
    "empty rows": "tf.sparse.fill_empty_rows(tf.SparseTensor([[0]], [1.5], n), 0.0)[0].values",
    "sum": "tf.reduce_sum(tf.broadcast_to(tf.constant(1.0), n))",
}
# A system that has less memory than it gives: here that is a quarter of a gigabyte.
PRETENDED = """
from weft.core import machine
machine.memory, machine.large = lambda: 1 << 28, lambda: 1 << 22
machine.free = lambda: 200 << 20
import weft.runtime.xla.compile
weft.runtime.xla.compile.load()

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

before = peak()
"""
SHOWN = """
grown = (peak() - before) >> 10
assert grown < 200, f"{grown} MB were used"
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux")
@pytest.mark.parametrize("target", ["", "server"])
def test_nothing_is_made_before_it_is_refused(target: str) -> None:
    graphs = {name: graph for name, graph in (GRAPHS | MORE).items() if name != "one hot"}
    for line in outcomes(target, 1 << 28, graphs, steps=f"{PRETENDED}{STEPS}{SHOWN}"):
        assert "ResourceExhaustedError OOM when allocating tensor with shape[" in line


def test_operations_that_grow_are_known() -> None:
    """Those whose shape rules look at values are in the table, or make no more than they get."""
    found = {sample.op for sample in all_samples() if _looks_at_values(sample)}
    growing = expected_shapes.GROWING | expected_shapes.ASKING
    assert found - growing == KEEPING & found


KEEPING = frozenset({
    "All", "Any", "ArgMax", "ArgMin", "Concat", "ConcatV2", "ConjugateTranspose", "EditDistance",
    "EuclideanNorm", "ExpandDims", "GatherV2", "MatrixDiagPartV2", "MatrixDiagPartV3",
    "MatrixSetDiagV2", "MatrixSetDiagV3", "Max", "Mean", "Min", "MirrorPadGrad", "NthElement",
    "Prod", "ReduceJoin", "Reshape", "ReverseV2", "Slice", "Split", "SplitV", "StridedSlice",
    "Sum", "TopKV2", "Transpose", "UniqueV2", "UniqueWithCountsV2", "XlaDynamicSlice",
})  # fmt: skip


def _looks_at_values(sample: Sample) -> bool:
    rule = REGISTRY[sample.op].shape_rule if sample.op in REGISTRY else None
    asked: list[int] = []

    class Given(ShapeContext):
        num_inputs = len(sample.flat_inputs)
        num_outputs = 1

        def __init__(self) -> None:
            self.attrs = dict(sample.attrs)

        def dims(self, i: int) -> Any:
            return np.shape(sample.flat_inputs[i])

        def dtype(self, i: int) -> Any:
            return tf.as_dtype(np.asarray(sample.flat_inputs[i]).dtype)

        def value(self, i: int) -> Any:
            asked.append(i)
            return np.asarray(sample.flat_inputs[i])

        def partial(self, i: int) -> Any:
            asked.append(i)
            return tuple(int(n) for n in np.ravel(sample.flat_inputs[i]))

    with contextlib.suppress(Exception):  # rules that want more than this
        if rule is not None:
            rule(Given())
    return bool(asked)


def test_an_error_names_the_node_and_its_line() -> None:
    shape = tf.placeholder(tf.int64, [None])
    large = tf.fill(shape, 1.0, name="large") * 2.0
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.ResourceExhaustedError) as found:
                session.run(large, {shape: [1 << 31, 1 << 31]})
            words = str(found.value)
            assert "OOM when allocating tensor with shape[2147483648,2147483648] and type" in words
            assert "[[node large (defined at test_room.py:" in words
            assert found.value.op is large.graph.get_operation_by_name("large")


def test_more_elements_than_there_are_numbers() -> None:
    n = tf.placeholder(tf.int64, [2])
    made = tf.reduce_max(tf.tile(tf.ones([2, 2]), n))
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="overflow"):
                session.run(made, {n: [1 << 32, 1 << 32]})


def test_shapes_that_are_known_beforehand() -> None:
    large = tf.fill(tf.constant([2**31, 2**31], tf.int64), 1.0)
    with tf.Session() as session, pytest.raises(tf.errors.ResourceExhaustedError) as found:
        session.run(large)
    assert not getattr(found.value, "__notes__", [])
    assert found.value.__cause__ is None


def test_three_vectors_and_all_their_sums() -> None:
    a, b, c = (tf.placeholder(tf.float32, [None] * 3) for _ in range(3))
    total = tf.reduce_max(a + b + c)
    count = 1 << 21
    vectors = [np.ones(np.roll([count, 1, 1], i), np.float32) for i in range(3)]
    with tf.Session() as session:
        for _ in range(3):
            with pytest.raises(tf.errors.ResourceExhaustedError, match=r"shape\[2097152,2097152,1"):
                session.run(total, dict(zip((a, b, c), vectors, strict=True)))


def test_a_branch_that_is_not_taken_needs_no_memory() -> None:
    shape, small = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.bool, [])
    choice = tf.cond(small, lambda: tf.ones([1]), lambda: tf.fill(shape, 1.0) + 1.0)
    with tf.Session() as session:
        for _ in range(4):
            assert session.run(choice, {shape: [1 << 45], small: True}).tolist() == [1]


HOLLOW = {
    "sparse": "tf.sparse_to_dense(tf.zeros([0, 2], tf.int64), n, tf.zeros([0]))",
    "fill": "tf.fill(n, 1.0) * 2.0",
    "sum": "tf.reduce_sum(tf.fill(n, 1.0), 1) [:3]",
    "fed": "tf.exp(x) + 1.0",
}


@pytest.mark.parametrize("name", HOLLOW)
def test_many_rows_with_nothing_in_them(name: str) -> None:
    n, x = tf.placeholder(tf.int64, [2]), tf.placeholder(tf.float32, [None, None])
    made = eval(HOLLOW[name])
    rows = 1 << (20 if name == "sum" else 40)
    with tf.Session() as session:
        for _ in range(3):
            value = session.run(made, {n: [rows + 1, 0], x: np.zeros([rows + 1, 0], np.float32)})
            assert value.shape[0] == (3 if name == "sum" else rows + 1)


def test_a_program_is_refused_when_there_is_no_memory_left(monkeypatch) -> None:
    x = tf.placeholder(tf.float32, [None, 1])
    pairs = tf.matmul(x, x, transpose_b=True, name="pairs")
    value = np.ones([1 << 12, 1], np.float32)
    monkeypatch.setattr(machine, "large", lambda: 1 << 20)
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(pairs, {x: value}).shape == (1 << 12, 1 << 12)
        monkeypatch.setattr(machine, "free", lambda: 1 << 25)
        with pytest.raises(
            tf.errors.ResourceExhaustedError, match=r"shape\[4096,4096\].*\n.*pairs"
        ):
            session.run(pairs, {x: value})
        monkeypatch.undo()
        assert session.run(pairs, {x: value}).shape == (1 << 12, 1 << 12)


def test_what_is_free_is_no_more_than_a_limit_leaves(monkeypatch) -> None:
    assert 0 < machine.free() <= machine.memory()
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1 << 20, 1 << 20))
    assert machine.free() == 0  # the process has more than that already


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("0::/a/b\n", ("memory.max", "memory.current", "inactive_file")),
        ("7:cpu,memory:/a/b\n",
         ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("where", ["", "/a", "/a/b"])
def test_what_is_free_in_a_container(monkeypatch, tmp_path, line, files, where) -> None:
    limit, use, counted = files
    folder = Path(f"{tmp_path}{'/memory' if 'total' in counted else ''}{where}")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in ((limit, "1000"), (use, "900"), ("memory.stat", f"anon 1\n{counted} 50")):
        (folder / name).write_text(f"{text}\n")
    text_of = machine._text
    process = {"/proc/self/cgroup": line.encode()}
    monkeypatch.setattr(machine, "_ROOT", str(tmp_path))
    monkeypatch.setattr(machine, "_text", lambda path: process.get(path) or text_of(path))
    machine._groups.cache_clear()
    try:
        assert next(machine._limits()) == 150
        (folder / limit).write_text("max\n")
        assert 150 not in machine._limits()
    finally:
        machine._groups.cache_clear()


def test_an_eighth_of_what_the_machine_has_left_is_for_others(monkeypatch) -> None:
    monkeypatch.setattr(machine, "_text", lambda path: b"MemAvailable: 80 kB\nSwapFree: 8 kB\n")
    assert list(machine._free_of_machine()) == [77 * 1024]


def test_bytes_that_xla_cannot_count_are_found_inside() -> None:
    import jax
    import jax.numpy as jnp
    from jax import lax

    def nested(x: Any) -> Any:
        def body(i: Any, total: Any) -> Any:
            return total + jnp.max(jnp.broadcast_to(x, (1 << 31, 1 << 31, 3)))

        return lax.fori_loop(0, 3, body, x)

    one = jax.ShapeDtypeStruct((), np.float32)
    assert is_countable(jax.jit(lambda x: x + 1).trace(one).jaxpr)
    assert not is_countable(jax.jit(nested).trace(one).jaxpr)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (MemoryError("nothing left"), "OOM: nothing left"),
        (RuntimeError("RESOURCE_EXHAUSTED: Out of memory"), "OOM: RESOURCE_EXHAUSTED"),
        (ValueError("array is too big; `arr.size`"), "OOM: array is too big"),
        (ValueError("Maximum allowed dimension exceeded"), "OOM: Maximum allowed"),
        (ValueError("something else"), None),
    ],
)
def test_errors_that_mean_no_memory(error: Exception, words: str | None) -> None:
    found = kit_room.exhausted(error)
    assert (found is None) if words is None else found.message.startswith(words)


def test_numpy_says_what_it_was_making() -> None:
    with pytest.raises(MemoryError) as found:
        np.empty(1 << 55, np.float64)
    assert "shape[36028797018963968] and type double" in kit_room.exhausted(found.value).message


def test_strings_and_numbers_are_counted() -> None:
    assert kit_room.byte_count((1 << 40, 1 << 40), np.float32) == 1 << 82
    assert kit_room.byte_count((3,), object) == 72
    with pytest.raises(tf.errors.ResourceExhaustedError, match="and type string on"):
        kit_room.check_room((1 << 50,), object)
    kit_room.check_room((8,), np.dtype(np.float32))


def test_values_that_were_small_do_not_vouch_for_others() -> None:
    dims, value = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.float32, [])
    filled = tf.fill(dims, value)
    with flags.XLA.override(False), tf.Session() as session:
        for count in (2, 2, 3, 1 << 42, 2, 1 << 43):
            if count < 10:
                assert session.run(filled, {dims: [count], value: 1.0}).tolist() == [1.0] * count
            else:
                with pytest.raises(tf.errors.ResourceExhaustedError, match="OOM when allocating"):
                    session.run(filled, {dims: [count], value: 1.0})
