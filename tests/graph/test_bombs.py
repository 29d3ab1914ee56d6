"""Graphs and tensors that ask for far more than they hold."""

from __future__ import annotations

import contextlib
import tracemalloc
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.compat.proto.graph_pb2 import GraphDef
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

import weft as tf
from weft.cluster.transport import wire
from weft.core import dtypes, flags
from weft.core.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    ResourceExhaustedError,
)
from weft.graph.meta_graph import read_meta_graph_file
from weft.graph.tensor_proto import make_ndarray, proto_to_array
from weft.passes.inlined_size import check_inlined_size
from weft.passes.prune import prune

# ---- tensors ----


def claiming(dtype: Any, *sizes: int) -> TensorProto:
    message = TensorProto(dtype=dtype.as_datatype_enum)
    for size in sizes:
        message.tensor_shape.dim.add(size=size)
    return message


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.uint8, dtypes.string, dtypes.complex64])
def test_a_tensor_without_values_takes_no_memory(dtype: Any) -> None:
    array = proto_to_array(claiming(dtype, 1000, 1000))
    assert array.shape == (1000, 1000) and not any(array.strides)
    assert array[999, 999] == (b"" if dtype is dtypes.string else 0)
    small = make_ndarray(claiming(dtype, 2))
    small[0] = small[1]  # the caller's own


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0]])
def test_a_tensor_that_would_be_written_out(values: list[float]) -> None:
    message = claiming(dtypes.float32, 10**6, 10**3)
    message.float_val.extend(values)
    with pytest.raises(ResourceExhaustedError, match="WEFT_MAX_EXPANDED"):
        make_ndarray(message)


@given(st.lists(st.integers(-5, 5), max_size=4), st.integers(0, 6))
def test_short_lists_repeat_their_last_element(values: list[int], size: int) -> None:
    message = claiming(dtypes.int32, max(size, len(values)))
    message.int_val.extend(values)
    last = values[-1] if values else 0
    expected = values + [last] * (max(size, len(values)) - len(values))
    np.testing.assert_array_equal(make_ndarray(message), expected)


# ---- nodes ----


@pytest.mark.parametrize(
    ("dtype", "value"), [("STRING", "FLOAT"), ("DOUBLE", "FLOAT"), ("QINT8", "INT8")]
)
def test_a_constant_is_of_its_type(dtype: str, value: str) -> None:
    node = (
        f'name: "c" op: "Const" attr {{ key: "dtype" value {{ type: DT_{dtype} }} }}'
        f' attr {{ key: "value" value {{ tensor {{ dtype: DT_{value}'
        " tensor_shape { dim { size: 2 } } } } }"
    )
    plain = text_format.Parse(f"node {{ {node} }}", GraphDef())
    with pytest.raises(InvalidArgumentError, match="Type mismatch between value"):
        tf.import_graph_def(plain, name="")
    inside = f'signature {{ name: "f" }} node_def {{ {node} }}'
    called = f'library {{ function {{ {inside} }} }} node {{ name: "p" op: "f" }}'
    tf.import_graph_def(text_format.Parse(called, GraphDef()), name="")
    with tf.Session() as session, pytest.raises(InvalidArgumentError, match="Type mismatch"):
        session.run("p")


COUNTS = {
    "Unpack": ("num", 'input: "x"', "T"),
    "Split": ("num_split", 'input: "i" input: "x"', "T"),
    "AddN": ("N", 'input: "x"', "T"),
}


@pytest.mark.parametrize("kind", COUNTS)
@pytest.mark.parametrize("count", [2**24, 2**31 - 1, 2**62])
def test_counts_of_tensors(kind: str, count: int) -> None:
    attr, inputs, _ = COUNTS[kind]
    graph = text_format.Parse(
        'node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } } }'
        'node { name: "i" op: "Placeholder" attr { key: "dtype" value { type: DT_INT32 } } }'
        f'node {{ name: "n" op: "{kind}" {inputs} attr {{ key: "T" value {{ type: DT_FLOAT }} }}'
        f' attr {{ key: "{attr}" value {{ i: {count} }} }} }}',
        GraphDef(),
    )
    with pytest.raises((InvalidArgumentError, ValueError), match=f"{attr} asks for {count}"):
        tf.import_graph_def(graph, name="")


def test_counts_in_programs() -> None:
    x = tf.placeholder(tf.float32)
    for make in (
        lambda: tf.raw_ops.Unpack(value=x, num=2**31 - 1),
        lambda: tf.raw_ops.Split(axis=0, value=x, num_split=2**24),
    ):
        with pytest.raises(InvalidArgumentError, match="WEFT_MAX_NODES"):
            make()
    assert len(tf.unstack(x, num=1000)) == 1000


# ---- functions ----


def doubling(count: int, calls: int = 2) -> GraphDef:
    """Functions that call the one before so many times each, and a call of the last."""
    graph = GraphDef()
    for i in range(count):
        function = graph.library.function.add()
        function.signature.name = f"f{i}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        source = "x"
        for k in range(calls):
            kind = f"f{i - 1}" if i else "Neg"
            node = function.node_def.add(name=f"n{k}", op=kind, input=[source])
            if not i:
                node.attr["T"].type = 1
            source = f"n{k}:y:0"
        function.ret["y"] = source
    node = graph.node.add(name="c", op="Placeholder")
    node.attr["dtype"].type = 1
    graph.node.add(name="p", op=f"f{count - 1}", input=["c"])
    return graph


def test_functions_that_double() -> None:
    tf.import_graph_def(doubling(60), name="")
    with tf.Session() as session, pytest.raises(ResourceExhaustedError, match="WEFT_MAX_NODES"):
        session.run("p:0", {"c:0": 1.0})


@given(st.integers(1, 6), st.integers(1, 3))
def test_the_count_is_that_of_the_nodes(count: int, calls: int) -> None:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(doubling(count, calls), name="")
        pruned = prune([], [graph.get_tensor_by_name("p:0")], [])
    nodes = len(pruned.nodes) + sum(calls**i for i in range(1, count + 1))
    with flags.MAX_NODES.override(nodes):
        check_inlined_size(pruned, graph._functions)
    with flags.MAX_NODES.override(nodes - 1), pytest.raises(ResourceExhaustedError):
        check_inlined_size(pruned, graph._functions)


def test_functions_that_are_deep() -> None:
    tf.import_graph_def(doubling(2000, calls=1), name="")
    with tf.Session() as session, pytest.raises(InvalidArgumentError, match="nested too deeply"):
        session.run("p:0", {"c:0": 1.0})


def test_planning_counts_for_the_timeout() -> None:
    tf.import_graph_def(doubling(16), name="")
    config = tf.ConfigProto(operation_timeout_in_ms=1)
    with tf.Session(config=config) as session, pytest.raises(DeadlineExceededError):
        session.run("p:0", {"c:0": 1.0})


def test_text_that_is_deep(tmp_path: Any) -> None:
    path = tmp_path / "meta.pbtxt"
    path.write_text("graph_def { node { attr { value { func {" * 1 + "attr { value { func {" * 5000)
    with pytest.raises(OSError, match="nested too deeply"):
        read_meta_graph_file(str(path))


@pytest.mark.parametrize("content", [b"", b"\x01a", b"\xff"])
@pytest.mark.parametrize("dtype", [tf.float32, tf.string])
def test_serialized_tensors(dtype: Any, content: bytes) -> None:
    message = claiming(dtype, 10**5, 10**4)
    if dtype == tf.string:
        message.tensor_content = content
    parsed = tf.io.parse_tensor(message.SerializeToString(), dtype)
    wrong = (ResourceExhaustedError, InvalidArgumentError)
    with tf.Session() as session, pytest.raises(wrong):
        session.run(parsed)


LONG = 1 << 22


@pytest.mark.parametrize("make", [
    lambda long: tf.reduce_sum(tf.ones([2, 3]), long),
    lambda long: tf.reshape(tf.ones([2, 3]), long),
    lambda long: tf.raw_ops.Fill(dims=long, value=1.0),
    lambda long: tf.raw_ops.Fill(dims=tf.placeholder(tf.int32, [LONG]), value=1.0),
    lambda long: tf.raw_ops.Fill(dims=tf.concat([long, [2]], 0), value=1.0),
    lambda long: tf.strided_slice(tf.ones([2, 3]), long, long, long),
    lambda long: tf.transpose(tf.ones([2, 3]), long),
])  # fmt: skip
def test_vectors_that_are_too_long_for_what_they_mean_are_not_read(make: Any) -> None:
    """A graph of a few bytes can claim that many numbers."""
    long = tf.constant(0, tf.int32, [LONG])
    tracemalloc.start()
    try:
        with contextlib.suppress(ValueError):
            make(long)
        assert tracemalloc.get_traced_memory()[1] < 4 * LONG
    finally:
        tracemalloc.stop()


def test_axes_that_are_named_very_often() -> None:
    long = tf.placeholder(tf.int64, [None])
    total = tf.reduce_sum(tf.ones([2, 3]), long)
    with tf.Session() as session:
        for _ in range(3):
            assert session.run(total, {long: np.tile([1, -1], LONG // 2)}).tolist() == [3.0, 3.0]
            assert session.run(total, {long: np.tile([1, 0], LONG // 2)}) == 6.0
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"Invalid reduction dimension \(2"
        ):
            session.run(total, {long: np.full(LONG, 2)})


def wide_shape(count: int) -> Any:
    """More dimensions than a tensor has; their sizes multiply to a number of many digits."""
    return TensorShapeProto(dim=[TensorShapeProto.Dim(size=3)] * count)


@pytest.mark.parametrize("count", [255, 300_000])
def test_shapes_of_too_many_dimensions(count: int) -> None:
    shape = wide_shape(count)
    tensor = TensorProto(dtype=1, tensor_shape=shape, float_val=[1.0])
    graph_defs = [GraphDef(), GraphDef()]
    graph_defs[0].node.add(name="x", op="Placeholder").attr["shape"].shape.CopyFrom(shape)
    graph_defs[1].node.add(name="x", op="Const").attr["value"].tensor.CopyFrom(tensor)
    for graph_def in graph_defs:
        graph_def.node[0].attr["dtype"].type = 1
        with pytest.raises(ValueError, match="has too many dimensions"):
            tf.import_graph_def(graph_def)
    data = tensor.SerializeToString()
    with pytest.raises(wire.Malformed, match="has too many dimensions"):
        wire.read_tensor(memoryview(data))
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="too many"):
        session.run(tf.parse_tensor(data, tf.float32))
