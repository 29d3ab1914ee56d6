"""tf.contrib.learn: heads, canned estimators over columns of tf.contrib.layers, exports."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

LEARN, LAYERS = tf.contrib.learn, tf.contrib.layers
RANDOM = np.random.RandomState(5)
AGE, IS_MALE = RANDOM.randint(10, 60, 64), RANDOM.randint(0, 2, 64)
LABELS = ((AGE > 30) & (IS_MALE == 1)).astype(np.int64)


@pytest.fixture(autouse=True)
def close_event_files() -> Iterator[None]:
    yield
    tf.summary.FileWriterCache.clear()


def people() -> tuple[dict[str, Any], Any]:
    places = [[row, 0] for row in range(64)]
    words = np.array(["female", "male"])[IS_MALE]
    gender = tf.SparseTensor(places, tf.constant(words), [64, 1])
    return {"age": tf.constant(AGE.astype(np.float32)), "gender": gender}, tf.constant(LABELS)


def columns() -> tuple[list[Any], list[Any]]:
    gender = LAYERS.sparse_column_with_keys("gender", ["female", "male"])
    age = LAYERS.real_valued_column("age")
    buckets = LAYERS.bucketized_column(age, [18, 30, 45])
    wide = [gender, buckets, LAYERS.crossed_column([gender, buckets], 100)]
    return wide, [LAYERS.embedding_column(gender, 2), age]


# ---- heads ---------------------------------------------------------------------------------------


def made(head: Any, mode: str, labels: Any, logits: Any, **features: Any) -> Any:
    tensors = {key: tf.constant(value) for key, value in features.items()}
    return head.create_model_fn_ops(
        tensors, mode, labels, train_op_fn=LEARN.no_op_train_fn, logits=tf.constant(logits)
    )


def evaluated(ops: Any) -> dict[str, Any]:
    """The loss, and every metric after one update."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(tf.tables_initializer())
        loss = session.run(ops.loss)
        session.run([update for _, update in ops.eval_metric_ops.values()])
        found = session.run({key: value for key, (value, _) in ops.eval_metric_ops.items()})
    return {"trained": loss, **found}


LOGITS = np.float32([[0.5], [-1.0], [2.0]])
WEIGHTS = np.float32([[1], [2], [5]])


def _log_loss(labels: Any) -> np.ndarray:
    return np.log1p(np.exp(LOGITS)) - LOGITS * labels


@pytest.mark.parametrize(
    ("head", "labels", "each"),
    [
        (LEARN.regression_head, np.float32([[1], [0], [4]]), (LOGITS - [[1], [0], [4]]) ** 2),
        (LEARN.multi_class_head, [[1], [0], [0]], _log_loss([[1], [0], [0]])),
        (LEARN.binary_svm_head, [[1], [0], [0]], np.maximum(0, 1 - LOGITS * [[1], [-1], [-1]])),
    ],
)
def test_the_loss_that_is_trained_and_the_one_that_is_reported(
    head: Any, labels: Any, each: np.ndarray
) -> None:
    first = [2] if head is LEARN.multi_class_head else []
    plain = evaluated(made(head(*first), "eval", tf.constant(labels), LOGITS))
    assert plain["trained"] == pytest.approx(each.mean()) == plain["loss"]
    tf.reset_default_graph()
    weighted = head(*first, weight_column_name="w")
    found = evaluated(made(weighted, "eval", tf.constant(labels), LOGITS, w=WEIGHTS))
    assert found["trained"] == pytest.approx((each * WEIGHTS).mean())
    assert found["loss"] == pytest.approx((each * WEIGHTS).sum() / WEIGHTS.sum())


def test_metrics_of_two_classes() -> None:
    found = evaluated(made(LEARN.multi_class_head(2), "eval", tf.constant([[1], [0], [0]]), LOGITS))
    probabilities = 1 / (1 + np.exp(-LOGITS))
    assert found["accuracy"] == pytest.approx(2 / 3)
    assert found["labels/prediction_mean"] == pytest.approx(probabilities.mean())
    assert found["labels/actual_label_mean"] == pytest.approx(1 / 3)
    assert found["precision/positive_threshold_0.500000_mean"] == pytest.approx(0.5)
    assert found["recall/positive_threshold_0.500000_mean"] == pytest.approx(1)
    assert found["auc"] == pytest.approx(0.5, abs=1e-4)


def test_classes_that_are_words() -> None:
    logits = np.float32([[1, 3, 0], [2, 0, 0]])
    head = LEARN.multi_class_head(3, label_keys=["a", "b", "c"], metric_class_ids=None)
    ops = made(head, "eval", tf.constant(["b", "c"]), logits)
    found = evaluated(ops)
    softmax = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    assert found["loss"] == pytest.approx(-np.log([softmax[0, 1], softmax[1, 2]]).mean())
    assert found["accuracy"] == 0.5
    with tf.Session() as session:
        session.run(tf.tables_initializer())
        assert session.run(ops.predictions["classes"]).tolist() == [b"b", b"a"]


def test_several_labels_and_several_heads() -> None:
    logits = np.float32([[1, -1, 2], [0, 3, -2]])
    labels = {"tags": tf.constant([[1, 0, 0], [1, 1, 0]]), "size": tf.constant([[1.0], [2.0]])}
    tags = LEARN.multi_label_head(3, label_name="tags", head_name="tags", metric_class_ids=[1])
    size = LEARN.regression_head(label_name="size", head_name="size")
    both = LEARN.multi_head([tags, size], loss_weights=[1.0, 0.5])
    assert both.logits_dimension == 4
    joined = np.concatenate([logits, np.float32([[1], [4]])], 1)
    found = evaluated(made(both, "eval", labels, joined))
    entropy = np.log1p(np.exp(logits)) - logits * [[1, 0, 0], [1, 1, 0]]
    assert found["loss/tags"] == pytest.approx(entropy.mean())
    assert found["loss/size"] == pytest.approx(2)
    assert found["trained"] == pytest.approx(entropy.mean() + 0.5 * 2)
    assert found["labels/actual_label_mean/class1/tags"] == pytest.approx(0.5)


def test_counts() -> None:
    labels = np.float32([[1], [0], [3]])
    ops = made(LEARN.poisson_regression_head(), "eval", tf.constant(labels), LOGITS)
    # With Stirling's approximation of the logarithm of labels above 1.
    stirling = 3 * np.log(3) - 3 + 0.5 * np.log(2 * np.pi * 3)
    each = np.exp(LOGITS) - LOGITS * labels + [[0], [0], [stirling]]
    assert evaluated(ops)["loss"] == pytest.approx(each.mean(), rel=1e-5)
    with tf.Session() as session:
        scores = session.run(ops.predictions["scores"])
    np.testing.assert_allclose(scores, np.exp(LOGITS[:, 0]), rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: LEARN.multi_class_head(1), "n_classes must be > 1 for classification: 1"),
        (lambda: LEARN.multi_class_head(2, label_keys=["a", "b"]), "label_keys is not supported"),
        (lambda: LEARN.multi_class_head(3, label_keys=["a"]), "Length of label_keys must equal"),
        (lambda: LEARN.multi_label_head(3, metric_class_ids=[3]), r"Class ID 3 not in \[0, 3\)"),
        (lambda: LEARN.multi_head([LEARN.regression_head()]), "must have names"),
        (lambda: LEARN.multi_class_head(3, loss_fn=lambda a, b: a), "Argument labels not found"),
        (lambda: LEARN.DNNLinearCombinedRegressor(), "Either linear_feature_columns or dnn"),
    ],
)  # fmt: skip
def test_what_heads_refuse(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


# ---- estimators ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("fixed", "steps"), [(True, 40), (False, 80)])
def test_a_wide_and_deep_model(fixed: bool, steps: int) -> None:
    wide, deep = columns()
    model = LEARN.DNNLinearCombinedClassifier(
        linear_feature_columns=wide,
        dnn_feature_columns=deep,
        dnn_hidden_units=[8],
        gradient_clip_norm=5.0,
        config=LEARN.RunConfig(tf_random_seed=1),
        fix_global_step_increment_bug=fixed,
    )
    model.fit(input_fn=people, max_steps=steps)
    found = model.evaluate(input_fn=people, steps=1)
    assert found["global_step"] in (steps, steps + 2)
    assert found["accuracy"] > 0.8
    classes = list(model.predict_classes(input_fn=people))
    assert np.mean(np.equal(classes, LABELS)) == pytest.approx(found["accuracy"])
    assert next(model.predict_proba(input_fn=people)).shape == (2,)
    assert "linear/gender/weights" in model.get_variable_names()
    assert isinstance(model, LEARN.BaseEstimator)


@pytest.mark.parametrize("kind", ["DNNClassifier", "LinearClassifier", "LinearRegressor"])
def test_a_bias_that_is_trained_on_labels_alone(kind: str) -> None:
    wide, deep = columns()
    if kind == "DNNClassifier":
        model = LEARN.DNNClassifier([4], deep, enable_centered_bias=True)
    else:
        model = getattr(LEARN, kind)(wide, enable_centered_bias=True)
    model.fit(input_fn=people, steps=5)
    name = next(n for n in model.get_variable_names() if n.endswith("centered_bias_weight"))
    # Fewer than half of the labels are true, yet more than none.
    bias = model.get_variable_value(name)[0]
    assert bias > 0 if kind == "LinearRegressor" else bias < 0


def test_metrics_of_one_prediction() -> None:
    wide, _ = columns()
    model = LEARN.LinearRegressor(wide).fit(input_fn=people, steps=1)

    def largest(predictions: Any, labels: Any) -> Any:
        return tf.reduce_max(tf.cast(labels, tf.float32))

    found = model.evaluate(
        input_fn=people, steps=1, metrics={("top", "scores"): largest, "plain": largest}
    )
    assert found["top"] == found["plain"] == 1
    scores = np.array(list(model.predict_scores(input_fn=people)))
    assert found["loss"] == pytest.approx(np.mean((scores - LABELS) ** 2), rel=1e-5)


def test_an_estimator_under_any_head() -> None:
    def counted() -> Any:
        features, labels = people()
        return features, tf.cast(labels, tf.float32)

    wide, deep = columns()
    head = LEARN.poisson_regression_head()
    for model in (
        LEARN.DNNEstimator(head, [4], deep),
        LEARN.LinearEstimator(wide, head),
        LEARN.DNNLinearCombinedEstimator(head, linear_feature_columns=wide),
    ):
        model.fit(input_fn=counted, steps=2)
        assert all(row["scores"] > 0 for row in model.predict(input_fn=people))


def test_classes_of_flowers_from_arrays() -> None:
    iris = LEARN.datasets.load_dataset("iris")
    assert iris.data.shape == (150, 4) and np.bincount(iris.target).tolist() == [50, 50, 50]
    inferred = LEARN.infer_real_valued_columns_from_input(iris.data)
    config = LEARN.RunConfig(tf_random_seed=1)
    model = LEARN.DNNClassifier([10, 10], inferred, n_classes=3, config=config)
    model.fit(iris.data, iris.target, steps=200)
    assert model.evaluate(iris.data, iris.target)["accuracy"] > 0.9
    assert model.predict_classes(iris.data[:3], as_iterable=False).tolist() == [0, 0, 0]


@pytest.mark.parametrize("examples", [True, False])
def test_an_export_by_strategy(examples: bool, tmp_path: Path) -> None:
    age = LAYERS.real_valued_column("age")
    model = LEARN.LinearClassifier([age]).fit(
        input_fn=lambda: ({"age": tf.constant([[1.0], [2.0]])}, tf.constant([[0], [1]])), steps=1
    )
    if examples:
        strategy = LEARN.utils.saved_model_export_utils.make_parsing_export_strategy([age])
    else:

        def serving() -> Any:
            fed = {"age": tf.placeholder(tf.float32, [None, 1])}
            return LEARN.InputFnOps(fed, None, fed)

        strategy = LEARN.make_export_strategy(serving)
    path = strategy.export(model, str(tmp_path))
    with tf.Session(graph=tf.Graph()) as session:
        meta = tf.saved_model.loader.load(session, ["serve"], path)
        signature = meta.signature_def["serving_default"]
        if examples:
            given: Any = [
                tf.train.Example(
                    features=tf.train.Features(
                        feature={
                            "age": tf.train.Feature(float_list=tf.train.FloatList(value=[3.0]))
                        }
                    )
                ).SerializeToString()
            ]
            assert signature.method_name == "tensorflow/serving/classify"
        else:
            given = [[3.0]]
        (fed,) = signature.inputs.values()
        scores = signature.outputs["scores" if examples else "probabilities"]
        found = session.run(scores.name, {fed.name: given})
    assert found.shape == (1, 2) and found.sum() == pytest.approx(1)


# ---- other models --------------------------------------------------------------------------------


def test_centers_of_clusters() -> None:
    points = np.float32([[0, 0], [0, 1], [9, 9], [9, 8]])
    model = LEARN.KMeansClustering(2, initial_clusters=points[[0, 2]], relative_tolerance=1e-3)
    model.fit(input_fn=lambda: (tf.constant(points), None), steps=30)
    centers = np.float32([[0, 0.5], [9, 8.5]])
    np.testing.assert_allclose(model.clusters(), centers, atol=0.2)

    def once() -> tuple[Any, None]:
        return tf.constant(points), None

    assert list(model.predict_cluster_idx(input_fn=once)) == [0, 0, 1, 1]
    squared = ((points[:, None] - model.clusters()) ** 2).sum(-1)
    np.testing.assert_allclose(model.transform(input_fn=once), squared, atol=1e-4)
    assert model.score(input_fn=once, steps=1) == pytest.approx(squared.min(1).sum(), rel=1e-4)


def test_a_support_vector_machine() -> None:
    x = np.float32([[1], [2], [-1], [-2]])

    def examples() -> tuple[Any, Any]:
        ids = tf.constant(["1", "2", "3", "4"])
        return {"id": ids, "x": tf.constant(x)}, tf.constant([[1], [1], [0], [0]])

    model = LEARN.SVM("id", [LAYERS.real_valued_column("x")]).fit(input_fn=examples, steps=20)
    found = model.evaluate(input_fn=examples, steps=1)
    assert found["accuracy"] == 1 and found["loss"] < 0.2
    assert list(model.predict_classes(input_fn=examples)) == [1, 1, 0, 0]
    with pytest.raises(ValueError, match="Kernel SVMs are not currently supported"):
        LEARN.SVM("id", [], kernels=[1])


def test_a_logistic_model_of_ones_own() -> None:
    def model_fn(features: Any, labels: Any, mode: str) -> tuple[Any, Any, Any]:
        chance = tf.get_variable("chance", initializer=tf.constant([0.2, 0.9, 0.6]))
        loss = tf.losses.log_loss(labels, chance)
        step = tf.train.get_global_step()
        return chance, loss, tf.train.GradientDescentOptimizer(0.0).minimize(loss, step)

    model = LEARN.LogisticRegressor(model_fn, thresholds=[0.5, 0.7])

    def inputs() -> tuple[Any, Any]:
        return {"x": tf.ones([3])}, tf.constant([0.0, 1.0, 0.0])

    found = model.fit(input_fn=inputs, steps=1).evaluate(input_fn=inputs, steps=1)
    assert found["accuracy/threshold_0.500000_mean"] == pytest.approx(2 / 3)
    assert found["accuracy/threshold_0.700000_mean"] == 1
    assert found["precision/positive_threshold_0.500000_mean"] == 0.5
    assert found["labels/prediction_mean"] == pytest.approx(1.7 / 3)
