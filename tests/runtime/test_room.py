"""Tensors and programs that there is no memory for: an error, and the process goes on."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.core import machine
from weft.ops.kit import room as kit_room
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


def outcomes(target: str, size: int, graphs: dict[str, str] = GRAPHS, limit: int = 0) -> list[str]:
    """What each step came to in a process of its own, which must end by itself."""
    source = f"GRAPHS = {graphs!r}\n{STEPS}"
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
    for line in outcomes("", 1 << 30, graphs, limit=5 * GIB):
        assert "ResourceExhaustedError OOM when allocating tensor with shape[" in line


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


def test_what_is_free_in_a_container(monkeypatch) -> None:
    files = {"max": b"1000\n", "current": b"900\n", "stat": b"anon 1\ninactive_file 50\n"}
    group = "max", "current", "stat", b"inactive_file"
    monkeypatch.setattr(machine, "_GROUPS", (group,))
    monkeypatch.setattr(machine, "_text", lambda path: files[path])
    assert next(machine._limits()) == 150
    files["max"] = b"max\n"
    assert all(found != 150 for found in _until_missing(machine._limits()))


def _until_missing(found: Any) -> list[int]:
    try:
        return list(found)
    except KeyError:  # the files of the process itself are not among the ones above
        return []


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
