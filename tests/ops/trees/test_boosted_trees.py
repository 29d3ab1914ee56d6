"""Boosted trees: sums, splits, trees that grow and are pruned, predictions.

TensorFlow 2.10 and later have no kernels for these; what they should give is computed here, in
another way, or follows from what one operation says about another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.protos.boosted_trees import DebugOutput, TreeEnsemble

raw = tf.raw_ops
LEFT, RIGHT, EQUAL = (
    b"INEQUALITY_DEFAULT_LEFT", b"INEQUALITY_DEFAULT_RIGHT", b"EQUALITY_DEFAULT_RIGHT",
)  # fmt: skip


def run(*fetches: Any) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches if len(fetches) > 1 else fetches[0])


# ---- sums ----------------------------------------------------------------------------------------


def _batch(rows: int = 30, logits: int = 1, features: int = 3) -> dict[str, Any]:
    rng = np.random.RandomState(3)
    return {
        "node_ids": rng.randint(0, 3, rows).astype(np.int32),
        "gradients": rng.normal(size=(rows, logits)).astype(np.float32),
        "hessians": rng.uniform(0.1, 1, (rows, logits)).astype(np.float32),
        "feature": rng.randint(-1, 4, (rows, features)).astype(np.int32),
    }


def test_sums_of_each_bucket() -> None:
    batch = _batch(logits=2)
    found = run(raw.BoostedTreesAggregateStats(**batch, max_splits=4, num_buckets=4))
    assert found.shape == (4, 3, 5, 4)
    for node, feature, bucket in np.ndindex(4, 3, 5):
        value = -1 if bucket == 4 else bucket  # what is missing has the last bucket
        of = (batch["node_ids"] == node) & (batch["feature"][:, feature] == value)
        sums = [*batch["gradients"][of].sum(0), *batch["hessians"][of].sum(0)]
        np.testing.assert_allclose(found[node, feature, bucket], sums, rtol=1e-5, atol=1e-6)


def test_the_older_form_has_a_list_of_features() -> None:
    batch = _batch()
    feature = np.abs(batch.pop("feature"))
    whole = run(raw.BoostedTreesAggregateStats(**batch, feature=feature, max_splits=4,
                                               num_buckets=4))  # fmt: skip
    features = list(feature.T)
    older = raw.BoostedTreesMakeStatsSummary(
        **batch, bucketized_features_list=features, max_splits=4, num_buckets=4
    )
    assert older.shape.as_list() == [3, 4, 4, 2]
    np.testing.assert_array_equal(run(older), whole[:, :, :4].transpose(1, 0, 2, 3))


def _sparse(batch: dict[str, Any]) -> Any:
    """The sums of the features that are given, as the sparse operation makes them."""
    feature = batch["feature"]
    indices = np.argwhere(feature >= 0).astype(np.int32)
    rest = {key: batch[key] for key in ("node_ids", "gradients", "hessians")}
    return raw.BoostedTreesSparseAggregateStats(
        **rest, feature_indices=indices, feature_values=feature[feature >= 0],
        feature_shape=np.array(feature.shape, np.int32), max_splits=4, num_buckets=4,
    )  # fmt: skip


def test_sparse_sums_are_the_dense_ones() -> None:
    batch = _batch(logits=2)
    dense = run(raw.BoostedTreesAggregateStats(**batch, max_splits=4, num_buckets=4))
    indices, values, shape = run(*_sparse(batch))
    assert tuple(shape) == dense.shape
    assert indices.tolist() == sorted(indices.tolist())
    filled = np.zeros(shape, np.float32)
    filled[tuple(indices.T)] = values
    np.testing.assert_allclose(filled, dense, rtol=1e-5, atol=1e-6)


# ---- splits --------------------------------------------------------------------------------------


def _leaf(sums: Any, l1: float, l2: float) -> tuple[float, float]:
    """(the best logit, how much it gains) of examples with these sums"""
    gradient, hessian = sums
    gradient = np.sign(gradient) * max(abs(gradient) - l1, 0)
    return -gradient / (hessian + l2), gradient**2 / (hessian + l2)


def _best(stats: Any, kind: str, l1: float, l2: float) -> tuple[Any, ...]:
    """(gain, feature, bucket, left, right, kind): all ways to split, one after the other."""
    total = stats[0].sum(0)
    ways = []
    for feature, bucket in np.ndindex(stats.shape[0], stats.shape[1] - 1):
        up_to, missing = stats[feature, : bucket + 1].sum(0), stats[feature, -1]
        sides = [(up_to + missing, LEFT), (up_to, RIGHT)]
        if kind == "equality":
            sides = [(stats[feature, bucket], EQUAL)]
        for left, name in sides:
            (a, gain_a), (b, gain_b) = _leaf(left, l1, l2), _leaf(total - left, l1, l2)
            ways.append((gain_a + gain_b - _leaf(total, l1, l2)[1], feature, bucket, a, b, name))
    return max(ways, key=lambda way: way[0])


@pytest.mark.parametrize("kind", ["inequality", "equality"])
@pytest.mark.parametrize("l1, l2", [(0.0, 0.1), (0.5, 1.0)])
def test_best_splits(kind: str, l1: float, l2: float) -> None:
    batch = _batch()
    stats = run(raw.BoostedTreesAggregateStats(**batch, max_splits=4, num_buckets=4))
    how = {"l1": l1, "l2": l2, "tree_complexity": 0.25, "min_node_weight": 0.01}
    split = raw.BoostedTreesCalculateBestFeatureSplit(
        node_id_range=[0, 4], stats_summary=stats, logits_dimension=1, split_type=kind, **how
    )
    found = run(*split)
    assert found[0].tolist() == [0, 1, 2]  # nothing came to node 3
    for i, (_, gain, feature, bucket, left, right, name) in enumerate(zip(*found, strict=True)):
        wanted = _best(stats[i].astype(np.float64), kind, l1, l2)
        assert (feature, bucket, name) == (*wanted[1:3], wanted[5])
        ours = [gain + 0.25, left[0], right[0]]
        np.testing.assert_allclose(ours, [wanted[0], *wanted[3:5]], rtol=1e-4, atol=1e-5)
    if kind == "inequality":
        sparse = raw.BoostedTreesSparseCalculateBestFeatureSplit(
            node_id_range=[0, 4], **dict(zip(("stats_summary_indices", "stats_summary_values",
            "stats_summary_shape"), _sparse(batch), strict=True)), logits_dimension=1, **how,
        )  # fmt: skip
        for mine, other in zip(run(*sparse)[:6], found[:6], strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)


def test_best_gain_of_each_feature() -> None:
    stats = np.abs(np.random.RandomState(1).normal(size=(2, 3, 4, 2))).astype(np.float32)
    stats[..., 0] -= 0.5
    stats[:, 2, :, 1] = 0.01  # too light to be split
    found = raw.BoostedTreesCalculateBestGainsPerFeature(
        node_id_range=[0, 3], stats_summary_list=list(stats), l1=0.0, l2=0.5, tree_complexity=0.0,
        min_node_weight=1.0, max_splits=3,
    )  # fmt: skip
    nodes, gains, thresholds, left, right = run(*found)
    for feature in (0, 1):
        assert nodes[feature].tolist() == [0, 1]
        for node in (0, 1):
            rows = stats[feature, node].astype(np.float64)
            total = rows.sum(0)
            ways = [
                (_leaf(up, 0, 0.5)[1] + _leaf(total - up, 0, 0.5)[1] - _leaf(total, 0, 0.5)[1], i)
                for i, up in enumerate(np.cumsum(rows, axis=0))
            ]
            gain, bucket = max(ways)
            assert thresholds[feature][node] == bucket
            assert gains[feature][node] == pytest.approx(gain, rel=1e-4)
            up = rows[: bucket + 1].sum(0)
            assert left[feature][node, 0] == pytest.approx(_leaf(up, 0, 0.5)[0], rel=1e-4)
            assert right[feature][node, 0] == pytest.approx(
                _leaf(total - up, 0, 0.5)[0], rel=1e-3, abs=1e-6
            )


@pytest.mark.parametrize("whole", [False, True])
def test_several_classes(whole: bool) -> None:
    """Diagonal hessians, or whole matrices, which are then solved."""
    rng = np.random.RandomState(5)
    squares = rng.normal(size=(1, 1, 3, 2, 2))
    hessians = (squares @ squares.swapaxes(-1, -2) + np.eye(2)).reshape(1, 1, 3, 4)
    hessians = hessians if whole else hessians[..., [0, 3]]
    stats = np.concatenate([rng.normal(size=(1, 1, 3, 2)), hessians], axis=-1).astype(np.float32)
    found = run(*raw.BoostedTreesCalculateBestFeatureSplit(
        node_id_range=[0, 1], stats_summary=stats, l1=0.0, l2=0.25, tree_complexity=0.0,
        min_node_weight=0.0, logits_dimension=2,
    ))  # fmt: skip
    rows = stats[0, 0].astype(np.float64)
    left = rows[: found[3][0] + 1].sum(0) + (rows[-1] if found[6][0] == LEFT else 0)
    matrix = left[2:].reshape(2, 2) if whole else np.diag(left[2:])
    wanted = -np.linalg.solve(matrix + 0.25 * np.eye(2), left[:2])
    np.testing.assert_allclose(found[4][0], wanted, rtol=1e-4)


# ---- trees ---------------------------------------------------------------------------------------


class Trees:
    """An ensemble in a session, and what can be asked of it."""

    def __init__(self, text: bytes = b"") -> None:
        self.handle = raw.BoostedTreesEnsembleResourceHandleOp(shared_name="trees")
        self.known = raw.IsBoostedTreesEnsembleInitialized(tree_ensemble_handle=self.handle)
        self.sess = tf.Session()
        assert not self.sess.run(self.known)
        with pytest.raises(tf.errors.NotFoundError, match="does not exist"):
            self.message()
        self.sess.run(raw.BoostedTreesCreateEnsemble(
            tree_ensemble_handle=self.handle, stamp_token=3, tree_ensemble_serialized=text
        ))  # fmt: skip
        assert self.sess.run(self.known)

    def __enter__(self) -> Trees:
        return self

    def __exit__(self, *_: Any) -> None:
        self.sess.close()

    def message(self) -> Any:
        op = raw.BoostedTreesSerializeEnsemble(tree_ensemble_handle=self.handle)
        return TreeEnsemble.FromString(self.sess.run(op)[1])

    def states(self) -> list[Any]:
        op = raw.BoostedTreesGetEnsembleStates(tree_ensemble_handle=self.handle)
        return [each.tolist() for each in self.sess.run(op)]

    def grow(self, nodes: Any, gains: Any, sides: Any, depth: int, pruning: int = 0,
             kinds: Any = None, thresholds: Any = None) -> None:  # fmt: skip
        """Splits nodes by feature 0; `sides` has a row (left, right) for each."""
        count = len(nodes)
        sides = np.array(sides, np.float32).reshape(count, 2)
        self.sess.run(raw.BoostedTreesUpdateEnsembleV2(
            tree_ensemble_handle=self.handle, feature_ids=[0],
            dimension_ids=[np.zeros(count, np.int32)], node_ids=[np.array(nodes, np.int32)],
            gains=[np.array(gains, np.float32)],
            thresholds=[np.array(thresholds or [2] * count, np.int32)],
            left_node_contribs=[sides[:, :1]], right_node_contribs=[sides[:, 1:]],
            split_types=[np.array(kinds or [LEFT] * count, object)], max_depth=depth,
            learning_rate=0.5, pruning_mode=pruning,
        ))  # fmt: skip

    def predict(self, *features: Any) -> Any:
        op = raw.BoostedTreesPredict(
            tree_ensemble_handle=self.handle, bucketized_features=list(features),
            logits_dimension=1,
        )  # fmt: skip
        return self.sess.run(op)[:, 0].tolist()

    def go_on(self, trees: Any, nodes: Any, *features: Any) -> Any:
        op = raw.BoostedTreesTrainingPredict(
            tree_ensemble_handle=self.handle, cached_tree_ids=np.array(trees, np.int32),
            cached_node_ids=np.array(nodes, np.int32), bucketized_features=list(features),
            logits_dimension=1,
        )  # fmt: skip
        logits, *rest = self.sess.run(op)
        return logits[:, 0], *(each.tolist() for each in rest)


FEATURE = np.array([0, 2, 3, 1], np.int32)


def test_trees_grow_by_layers() -> None:
    with Trees() as trees:
        assert trees.states() == [3, 0, 0, 0, [0, 1]]
        assert trees.predict(FEATURE) == [0, 0, 0, 0]
        assert trees.go_on([0] * 4, [-1] * 4, FEATURE)[1:] == ([0] * 4, [0] * 4)
        trees.grow([0], [1.5], [(-2, 4)], depth=2)
        assert trees.states() == [4, 1, 0, 1, [1, 3]]
        assert trees.predict(FEATURE) == [-1, -1, 2, -1]
        before, *where = trees.go_on([0] * 4, [0] * 4, FEATURE)
        assert before.tolist() == [-1, -1, 2, -1] and where == [[0] * 4, [1, 1, 2, 1]]
        trees.grow([1, 2], [0.5, -1.0], [(1, 2), (0.5, 0)], depth=2, thresholds=[0, 9])
        assert trees.states() == [5, 2, 1, 2, [0, 1]]  # the tree is done, and there is a new one
        assert trees.predict(FEATURE) == [-0.5, 0, 2.25, 0]
        change, *where = trees.go_on(*where, FEATURE)
        assert where == [[1] * 4, [0] * 4]
        assert (before + change).tolist() == trees.predict(FEATURE)
        nodes = trees.message().trees[0].nodes
        assert [node.WhichOneof("node") for node in nodes] == ["bucketized_split"] * 3 + [
            "leaf"
        ] * 4
        assert nodes[2].metadata.gain == -1 and nodes[2].metadata.original_leaf.scalar == 2
        assert not nodes[0].metadata.HasField("original_leaf")


def test_splits_by_equality_and_defaults() -> None:
    with Trees() as trees:
        trees.grow([0], [1], [(2, 4)], depth=2, kinds=[EQUAL])
        assert trees.predict(FEATURE) == [2, 1, 2, 2]
        trees.grow([1, 2], [1, 1], [(2, 4), (6, 8)], depth=3, kinds=[LEFT, RIGHT])
        nodes = trees.message().trees[0].nodes
        assert nodes[0].categorical_split.value == 2
        assert [nodes[i].bucketized_split.default_direction for i in (1, 2)] == [0, 1]
        with pytest.raises(tf.errors.InternalError, match="Parse failed"):
            trees.grow([3], [1], [(0, 0)], depth=3, kinds=[b"SOMEHOW"])


def test_the_best_feature_wins_and_of_equal_ones_the_lower() -> None:
    with Trees() as trees:
        indices, numbers = np.zeros([1], np.int32), np.ones([1, 1], np.float32)
        gains = [np.float32([gain]) for gain in (2, 2, 1)]
        update = raw.BoostedTreesUpdateEnsemble(
            tree_ensemble_handle=trees.handle, feature_ids=[7, 5, 6], node_ids=[indices] * 3,
            gains=gains, thresholds=[indices] * 3, left_node_contribs=[numbers] * 3,
            right_node_contribs=[-numbers] * 3, max_depth=1, learning_rate=0.1, pruning_mode=0,
        )  # fmt: skip
        trees.sess.run(update)
        assert trees.message().trees[0].nodes[0].bucketized_split.feature_id == 5


@pytest.mark.parametrize("pruning, count", [(0, 7), (1, 5), (2, 5)])
def test_pruning(pruning: int, count: int) -> None:
    """Splits that lose: kept; not made; or taken away when the tree is done."""
    with Trees() as trees:
        trees.grow([0], [1], [(-2, 4)], 2, pruning)
        before, *where = trees.go_on([0] * 4, [0] * 4, FEATURE)
        trees.grow([1, 2], [-1, 1], [(1, 2), (0.5, 0)], 2, pruning, thresholds=[0, 9])
        tree, metadata = trees.message().trees[0], trees.message().tree_metadata[0]
        assert len(tree.nodes) == count
        assert len(metadata.post_pruned_nodes_meta) == (7 if pruning == 2 else 0)
        assert trees.predict(FEATURE) == (
            [-0.5, 0, 2.25, 0] if pruning == 0 else [-1, -1, 2.25, -1]
        )
        # Predictions go on from nodes by the numbers they had.
        change, *_ = trees.go_on(*where, FEATURE)
        assert (before + change).tolist() == trees.predict(FEATURE)
        if pruning == 2:
            gone = trees.go_on([0, 0], [3, 4], FEATURE[:2])[0]  # leaves with -0.5 and 0
            assert gone.tolist() == [-0.5, -1]
            assert [u.new_node_id for u in metadata.post_pruned_nodes_meta] == [0, 1, 2, 1, 1, 3, 4]


def test_a_tree_can_lose_all_its_splits() -> None:
    with Trees() as trees:
        trees.grow([0], [-1], [(-2, 4)], 1, pruning=2)
        assert [node.WhichOneof("node") for node in trees.message().trees[0].nodes] == ["leaf"]
        assert trees.predict(FEATURE) == [0, 0, 0, 0]


def test_bias() -> None:
    with Trees() as trees:

        def center(gradient: float) -> bool:
            return trees.sess.run(raw.BoostedTreesCenterBias(
                tree_ensemble_handle=trees.handle, mean_gradients=[[gradient]],
                mean_hessians=[[2.0]], l1=0.0, l2=0.0,
            ))  # fmt: skip

        assert center(-4.0) and trees.predict(FEATURE[:1]) == [2]
        assert center(1.0) and trees.predict(FEATURE[:1]) == [1.5]
        assert not center(0.001)
        trees.grow([0], [1], [(2, 4)], depth=1)
        nodes = trees.message().trees[0].nodes
        assert nodes[0].metadata.original_leaf.scalar == nodes[1].leaf.scalar - 1


def test_the_way_of_an_example() -> None:
    with Trees() as trees:
        trees.sess.run(raw.BoostedTreesCenterBias(
            tree_ensemble_handle=trees.handle, mean_gradients=[[-1.0]], mean_hessians=[[1.0]],
            l1=0.0, l2=0.0,
        ))  # fmt: skip
        trees.grow([0], [1], [(-2, 4)], depth=1)
        trees.grow([0], [1], [(1, 0)], depth=1)
        told = trees.sess.run(raw.BoostedTreesExampleDebugOutputs(
            tree_ensemble_handle=trees.handle, bucketized_features=[FEATURE], logits_dimension=1
        ))  # fmt: skip
        ways = [DebugOutput.FromString(each) for each in told]
        assert [list(way.logits_path) for way in ways[1:3]] == [[1, 0, 0.5], [1, 3, 3]]
        assert list(ways[0].feature_ids) == [0, 0]
        assert [way.logits_path[-1] for way in ways] == trees.predict(FEATURE)


def test_what_is_saved_comes_back() -> None:
    with Trees() as trees:
        trees.grow([0], [1], [(-2, 4)], depth=1)
        text = trees.message().SerializeToString()
        trees.grow([0], [1], [(5, 5)], depth=1)
        trees.sess.run(raw.BoostedTreesDeserializeEnsemble(
            tree_ensemble_handle=trees.handle, stamp_token=9, tree_ensemble_serialized=text
        ))  # fmt: skip
        assert trees.states()[0] == 9 and trees.predict(FEATURE) == [-1, -1, 2, -1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse tree ensemble"):
            trees.sess.run(raw.BoostedTreesDeserializeEnsemble(
                tree_ensemble_handle=trees.handle, stamp_token=9, tree_ensemble_serialized=b"\xff"
            ))  # fmt: skip


# ---- quantiles -----------------------------------------------------------------------------------


class Quantiles:
    def __init__(self, epsilon: float, streams: int) -> None:
        self.handle = raw.BoostedTreesQuantileStreamResourceHandleOp(shared_name="streams")
        self.epsilon, self.count = epsilon, streams
        self.create = raw.BoostedTreesCreateQuantileStreamResource(
            quantile_stream_resource_handle=self.handle, epsilon=epsilon, num_streams=streams
        )

    def add(self, values: Any, weights: Any) -> Any:
        summaries = raw.BoostedTreesMakeQuantileSummaries(
            float_values=values, example_weights=weights, epsilon=self.epsilon
        )
        return raw.BoostedTreesQuantileStreamResourceAddSummaries(
            quantile_stream_resource_handle=self.handle, summaries=summaries
        )

    def flush(self, buckets: int, quantiles: bool = False) -> Any:
        return raw.BoostedTreesQuantileStreamResourceFlush(
            quantile_stream_resource_handle=self.handle, num_buckets=buckets,
            generate_quantiles=quantiles,
        )  # fmt: skip

    def boundaries(self) -> Any:
        return raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(
            quantile_stream_resource_handle=self.handle, num_features=self.count
        )


def test_boundaries_and_buckets() -> None:
    """The numbers are those of TensorFlow's own test."""
    values = [
        np.float32([1.2, 12.1, 0.3, 0.5, 0.6, 2.2]),
        np.float32([2.3, 1.2, 1.1, 2.6, 3.2, 0.8]),
    ]
    stream = Quantiles(0.01, 2)
    made = stream.boundaries()
    buckets = raw.BoostedTreesBucketize(float_values=values, bucket_boundaries=made)
    known = raw.IsBoostedTreesQuantileStreamResourceInitialized(
        quantile_stream_resource_handle=stream.handle
    )
    with tf.Session() as sess:
        assert not sess.run(known)
        sess.run(stream.create)
        assert sess.run(known) and [len(each) for each in sess.run(made)] == [0, 0]
        assert sess.run(buckets[0]).tolist() == [0] * 6
        sess.run(stream.add(values, np.float32([10, 1, 1, 1, 1, 1])))
        sess.run(stream.flush(3))
        ends = sess.run(made)
        np.testing.assert_allclose(ends, [[0.3, 0.6, 1.2, 12.1], [0.8, 1.2, 2.3, 3.2]])
        assert [each.tolist() for each in sess.run(buckets)] == [[2, 3, 0, 1, 1, 3],
                                                                 [2, 1, 1, 3, 3, 0]]  # fmt: skip
        sess.run(raw.BoostedTreesQuantileStreamResourceDeserialize(
            quantile_stream_resource_handle=stream.handle,
            bucket_boundaries=[np.float32([1]), np.float32([1, 2, 3])],
        ))  # fmt: skip
        assert sess.run(buckets[1]).tolist() == [2, 1, 1, 2, 2, 0]


def test_summaries_are_near_the_truth() -> None:
    """Ranks are off by less than was allowed, in a stream of many batches."""
    rng = np.random.RandomState(2)
    values = rng.normal(size=4000).astype(np.float32)
    weights = rng.uniform(0.5, 2, 4000).astype(np.float32)
    stream, epsilon = Quantiles(0.05, 1), 0.05
    part, weight = (tf.placeholder(tf.float32, [None]) for _ in range(2))
    add, flush = stream.add([part], weight), stream.flush(11, quantiles=True)
    summaries = raw.BoostedTreesFlushQuantileSummaries(
        quantile_stream_resource_handle=stream.handle, num_features=1
    )
    with tf.Session() as sess:
        sess.run(stream.create)

        def fill() -> None:
            for i in range(0, 4000, 500):
                sess.run(add, {part: values[i : i + 500], weight: weights[i : i + 500]})

        fill()
        (summary,) = sess.run(summaries)
        fill()
        sess.run(flush)
        (quantiles,) = sess.run(stream.boundaries())
    assert len(summary) < 1000
    for value, own, least, greatest in summary[::7]:
        below = weights[values < value].sum()
        assert least <= below * 1.0001 + 1e-3 and greatest >= (below + own) * 0.9999 - 1e-3
    ranks = [weights[values <= value].sum() / weights.sum() for value in quantiles]
    np.testing.assert_allclose(ranks, np.linspace(0, 1, 11), atol=2 * epsilon)
    assert quantiles[0] == values.min() and quantiles[-1] == values.max()


def test_weights_count() -> None:
    summary = run(raw.BoostedTreesMakeQuantileSummaries(
        float_values=[np.float32([3, 1, 3, 2, 5])], example_weights=np.float32([1, 2, 4, 1, 0]),
        epsilon=0.01,
    )[0])  # fmt: skip
    assert summary.tolist() == [[1, 2, 0, 2], [2, 1, 2, 3], [3, 5, 3, 8]]


def test_mistakes() -> None:
    batch = _batch(rows=4)
    with pytest.raises(tf.errors.InvalidArgumentError, match="entry should be >=0, got: -1"):
        nodes = batch | {"node_ids": np.array([0, -1, 0, 0], np.int32)}
        run(raw.BoostedTreesAggregateStats(**nodes, max_splits=4, num_buckets=4))
    with pytest.raises(tf.errors.InvalidArgumentError, match="l1 = -1 but it should be >= 0"):
        run(raw.BoostedTreesCalculateBestFeatureSplit(
            node_id_range=[0, 1], stats_summary=np.zeros((1, 1, 2, 2), np.float32), l1=-1.0,
            l2=0.0, tree_complexity=0.0, min_node_weight=0.0, logits_dimension=1,
        )[0])  # fmt: skip
    with pytest.raises(tf.errors.InvalidArgumentError, match="epsilon value of zero"):
        run(Quantiles(0.0, 1).create)
    with pytest.raises(ValueError, match="Shape must be rank 1"):
        raw.BoostedTreesBucketize(float_values=[[[1.0]]], bucket_boundaries=[[1.0]])
