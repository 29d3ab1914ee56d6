"""Operations that few graphs have: trees that are given, calls of other servers, statistics."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import pytest

import weft as tf
from weft.core import errors
from weft.protos.boosted_trees import Tree

# ---- trees ---------------------------------------------------------------------------------------


# The second feature first, and then, on its right side, the first.
NODES: list[Any] = [(1, 0.5, 1, 2), [1.0, 2.0], (0, -1.0, 3, 4), [3.0, 4.0], [5.0, 6.0]]


def serialized(nodes: list[Any]) -> bytes:
    """Splits (feature, threshold, left, right) and leaves (values) as a message."""
    tree = Tree()
    for each in nodes:
        node = tree.nodes.add()
        if isinstance(each, list):
            node.leaf.vector.value.extend(each)
        else:
            split = node.dense_split
            split.feature_id, split.threshold, split.left_id, split.right_id = each
    content: bytes = tree.SerializeToString()
    return content


def test_a_tree_that_is_given() -> None:
    ops, content = tf.raw_ops, serialized(NODES)
    tree = ops.TensorForestTreeResourceHandleOp(shared_name="tree")
    made = ops.TensorForestTreeIsInitializedOp(tree_handle=tree)
    features = [[0.0, 0.5], [-1.0, 0.75], [0.0, 0.75]]
    logits = ops.TensorForestTreePredict(
        tree_handle=tree, dense_features=features, logits_dimension=2
    )
    assert logits.shape.as_list() == [3, 2]
    with tf.Session() as session:
        assert not session.run(made)
        with pytest.raises(errors.NotFoundError):
            session.run(logits)
        session.run(ops.TensorForestCreateTreeVariable(tree_handle=tree, tree_config=content))
        # There is one now, which another does not replace.
        session.run(ops.TensorForestCreateTreeVariable(tree_handle=tree, tree_config=b""))
        assert session.run(made)
        assert session.run(ops.TensorForestTreeSize(tree_handle=tree)) == 5
        assert session.run(ops.TensorForestTreeSerialize(tree_handle=tree)) == content
        assert session.run(logits).tolist() == [[1, 2], [3, 4], [5, 6]]
        session.run(ops.TensorForestTreeDeserialize(tree_handle=tree, tree_config=b""))
        assert session.run(logits).tolist() == [[0, 0]] * 3
        with pytest.raises(errors.InvalidArgumentError, match="Unable to parse tree config"):
            session.run(ops.TensorForestTreeDeserialize(tree_handle=tree, tree_config=b"\xff"))


# ---- calls ---------------------------------------------------------------------------------------


class _Handler(grpc.GenericRpcHandler):
    def service(self, details: Any) -> Any:
        def answer(request: bytes, context: Any) -> bytes:
            if request == b"bad":
                context.abort(grpc.StatusCode.INVALID_ARGUMENT, "not this")
            return details.method.encode() + b" " + request

        return grpc.unary_unary_rpc_method_handler(answer)


@pytest.fixture
def address() -> Iterator[str]:
    server = grpc.server(ThreadPoolExecutor(2), handlers=[_Handler()])
    port = server.add_insecure_port("localhost:0")
    server.start()
    yield f"localhost:{port}"
    server.stop(None).wait()


def test_calls_of_another_server(address: str) -> None:
    answers = tf.raw_ops.Rpc(address=address, method="/a.B/c", request=["x", "y"], protocol="grpc")
    one = tf.raw_ops.Rpc(address=address, method="/a.B/c", request="z", protocol="grpc")
    assert answers.shape.as_list() == [2] and one.shape.as_list() == []
    with tf.Session() as session:
        assert session.run(answers).tolist() == [b"/a.B/c x", b"/a.B/c y"]
        assert session.run(one) == b"/a.B/c z"


def test_calls_that_fail(address: str) -> None:
    tried = tf.raw_ops.TryRpc(
        address=address, method=["/m", "/m"], request=["ok", "bad"], protocol="grpc"
    )
    failing = tf.raw_ops.Rpc(address=address, method="/m", request="bad", protocol="grpc")
    with tf.Session() as session:
        response, code, message = session.run(list(tried))
        assert response.tolist() == [b"/m ok", b""]
        assert code.tolist() == [0, tf.errors.INVALID_ARGUMENT] and message[1] == b"not this"
        with pytest.raises(errors.InvalidArgumentError, match="not this"):
            session.run(failing)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"protocol": ""}, "protocol must be non-empty"),
        ({"protocol": "http"}, "The protocol http was not recognized"),
        ({"request": [["x"]]}, "request must be a scalar or vector"),
        ({"request": ["x", "y"], "method": ["a", "b", "c"]}, "Input vector shapes don't match"),
    ],
)
def test_calls_that_cannot_be(given: dict[str, Any], message: str) -> None:
    usual = {"address": "localhost:1", "method": "/m", "request": "x", "protocol": "grpc"}
    # The graph refuses shapes that it knows.
    fed = {name: tf.placeholder(tf.string) for name in ("address", "method", "request")}
    values = {**usual, **given}
    call = tf.raw_ops.Rpc(**fed, protocol=values.pop("protocol"))
    feeds = {fed[name]: value for name, value in values.items()}
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError, match=message):
        session.run(call, feeds)


# ---- statistics and lists ------------------------------------------------------------------------


def test_statistics_are_written_as_events(tmp_path: Path) -> None:
    ops = tf.raw_ops
    aggregator = ops.StatsAggregatorHandleV2(shared_name="stats")
    writer = ops.SummaryWriter(shared_name="writer")
    created = ops.CreateSummaryFileWriter(
        writer=writer, logdir=str(tmp_path), max_queue=10, flush_millis=1000, filename_suffix=".v2"
    )
    told = ops.StatsAggregatorSetSummaryWriter(stats_aggregator=aggregator, summary=writer)
    variant = tf.data.Dataset.range(3)._variant_tensor
    structure = {"output_types": [tf.int64], "output_shapes": [[]]}
    sized = ops.BytesProducedStatsDataset(input_dataset=variant, tag="bytes", **structure)
    measured = ops.SetStatsAggregatorDataset(
        input_dataset=sized, stats_aggregator=aggregator, tag="", counter_prefix="", **structure
    )
    iterator = ops.IteratorV2(shared_name="", container="", **structure)
    started = ops.MakeIterator(dataset=measured, iterator=iterator)
    element = ops.IteratorGetNext(iterator=iterator, **structure)
    with tf.Session() as session:
        session.run(created)
        session.run(told)
        session.run(started)
        for _ in range(3):
            session.run(element)
        assert session.run(ops.StatsAggregatorSummary(iterator=aggregator)) == b""
        session.run(ops.CloseSummaryWriter(writer=writer))
    (file,) = tmp_path.iterdir()
    events = [e for e in tf.train.summary_iterator(str(file)) if e.summary.value]
    assert [(e.step, e.summary.value[0].tag) for e in events] == [
        (1, "bytes"), (2, "bytes"), (3, "bytes"),
    ]  # fmt: skip
    assert events[-1].summary.value[0].histo.num == 3


def test_rows_at_the_ends_of_lists() -> None:
    ops = tf.raw_ops
    made = [
        ops.EmptyTensorList(element_shape=[2], max_num_elements=-1, element_dtype=tf.float32)
        for _ in range(2)
    ]
    lists = tf.stack(made)
    rows = tf.placeholder(tf.float32)
    pushed = ops.TensorListPushBackBatch(input_handles=lists, tensor=rows)
    parts = [
        ops.TensorListStack(
            input_handle=each, element_shape=[2], element_dtype=tf.float32, num_elements=-1
        )
        for each in tf.unstack(pushed)
    ]
    with tf.Session() as session:
        for _ in range(2):
            found = session.run(parts, {rows: [[1, 2], [3, 4]]})
            np.testing.assert_array_equal(found, [[[1, 2]], [[3, 4]]])
        with pytest.raises(errors.InvalidArgumentError, match=r"Expected tensor\.shape"):
            session.run(parts, {rows: [[1, 2]]})
