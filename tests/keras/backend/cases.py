"""Programs of tf.keras.backend whose values are recorded."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.keras.played import Program

_rng = np.random.RandomState(7)
X = _rng.uniform(-2, 2, (3, 4)).astype("float32")
Y = _rng.uniform(-2, 2, (3, 4)).astype("float32")
CUBE = _rng.uniform(-2, 2, (2, 3, 4)).astype("float32")
OTHER = _rng.uniform(-2, 2, (2, 4, 5)).astype("float32")
POSITIVE = _rng.uniform(0.1, 2, (3, 4)).astype("float32")
IMAGES = _rng.uniform(-1, 1, (2, 5, 6, 3)).astype("float32")
VOLUMES = _rng.uniform(-1, 1, (1, 4, 5, 4, 2)).astype("float32")
ROWS = _rng.uniform(-1, 1, (2, 7, 3)).astype("float32")
WEIGHTS = _rng.uniform(-1, 1, (2, 3, 3, 4)).astype("float32")
LINE = _rng.uniform(-1, 1, (3, 3, 4)).astype("float32")
BLOCK = _rng.uniform(-1, 1, (2, 2, 2, 2, 3)).astype("float32")
DEPTHWISE = _rng.uniform(-1, 1, (2, 3, 3, 2)).astype("float32")
POINTWISE = _rng.uniform(-1, 1, (1, 1, 6, 4)).astype("float32")
BACKWARD = _rng.uniform(-1, 1, (3, 3, 2, 3)).astype("float32")
LOCAL1 = _rng.uniform(-1, 1, (3, 9, 2)).astype("float32")
LOCAL2 = _rng.uniform(-1, 1, (4, 18, 2)).astype("float32")
CHANNELS = _rng.uniform(0.5, 1.5, (4, 3)).astype("float32")
PROBABILITIES = np.array([[0.2, 0.3, 0.5], [0.05, 0.9, 0.05], [0.6, 0.1, 0.3]], "float32")
ONE_HOT = np.eye(3, dtype="float32")[[2, 0, 1]]
SCORES = np.exp(_rng.uniform(-1, 1, (2, 6, 4)).astype("float32"))
SCORES /= SCORES.sum(-1, keepdims=True)

CASES: dict[str, Program] = {}


def _of(name: str, *given: Any, **options: Any) -> None:
    """A program that calls the function `name` of the backend; arrays become constants."""
    key, number = name, 1
    while key in CASES:
        number += 1
        key = f"{name}_{number}"

    def program(tf: Any, keras: Any) -> Any:
        made = [
            keras.backend.constant(x, dtype=x.dtype.name) if isinstance(x, np.ndarray) else x
            for x in given
        ]
        return getattr(keras.backend, name)(*made, **options)

    CASES[key] = program


def _first(images: np.ndarray) -> np.ndarray:
    """With channels before everything but the batch."""
    return np.moveaxis(images, -1, 1).copy()


for _name in (
    "abs cos cumprod cumsum elu exp flatten hard_sigmoid relu round sigmoid sign sin softmax "
    "softplus softsign sqrt square tanh transpose batch_flatten zeros_like ones_like identity"
).split():
    if _name != "identity":
        _of(_name, X)
for _name in "all any argmax argmin max mean min prod std sum var".split():
    _of(_name, CUBE)
    _of(_name, CUBE, axis=1)
    if not _name.startswith("arg"):
        _of(_name, CUBE, axis=[0, -1], keepdims=True)
_of("mean", np.array([[True, False], [True, True]]), axis=0)
_of("log", POSITIVE)
_of("pow", POSITIVE, 3.0)
_of("clip", X, -0.5, 1.0)
_of("clip", X, 0.5, -1.0)
_of("clip", X, 0.25, None)
for _name in "equal not_equal greater greater_equal less less_equal maximum minimum".split():
    _of(_name, X, Y)
_of("cast", X, "int32")
_of("elu", X, alpha=0.3)
_of("relu", X, alpha=0.2)
_of("relu", X, max_value=1.0)
_of("relu", X, max_value=6)
_of("relu", X, threshold=0.5)
_of("relu", X, alpha=0.1, max_value=1.0, threshold=0.3)
_of("softmax", CUBE, axis=1)
_of("l2_normalize", X, axis=1)
_of("in_top_k", PROBABILITIES, np.array([2, 1, 1], "int32"), 2)

_of("dot", X, Y.T.copy())
_of("dot", CUBE, Y.T.copy())
_of("dot", X, np.moveaxis(OTHER, 0, 1)[:, :, :2].transpose(1, 0, 2).copy())
_of("batch_dot", CUBE, OTHER)
_of("batch_dot", CUBE, CUBE, axes=2)
_of("batch_dot", X, Y, axes=1)
_of("batch_dot", CUBE, X[:2].copy(), axes=(2, 1))
_of("gather", X, np.array([2, 0, 2], "int32"))

_of("reshape", X, (2, 6))
_of("permute_dimensions", CUBE, (2, 0, 1))
_of("expand_dims", X)
_of("expand_dims", X, 0)
_of("squeeze", X[:, :1].copy(), 1)
_of("repeat", X, 2)
_of("repeat_elements", X, 3, 1)
_of("tile", X, (2, 1))
_of("tile", X[0].copy(), 2)
_of("one_hot", np.array([0, 2, 1], "int32"), 4)
_of("reverse", CUBE, 1)
_of("reverse", CUBE, (0, 2))
_of("arange", 5)
_of("arange", 1, 7, 2, "float32")
_of("arange", -3)
_of("temporal_padding", ROWS, (2, 1))
_of("spatial_2d_padding", IMAGES, ((1, 0), (2, 3)))
_of("spatial_2d_padding", _first(IMAGES), ((1, 0), (2, 3)), data_format="channels_first")
_of("spatial_3d_padding", VOLUMES)
_of("resize_images", IMAGES, 2, 3, "channels_last")
_of("resize_images", _first(IMAGES), 2, 1, "channels_first", interpolation="bilinear")
_of("resize_volumes", VOLUMES, 2, 1, 2, "channels_last")

_of("conv1d", ROWS, LINE)
_of("conv1d", ROWS, LINE, strides=2, padding="same")
_of("conv1d", ROWS, LINE, padding="causal", dilation_rate=2)
_of("conv2d", IMAGES, WEIGHTS)
_of("conv2d", IMAGES, WEIGHTS, strides=(2, 1), padding="same")
_of("conv2d", IMAGES, WEIGHTS, dilation_rate=(2, 2), padding="same")
_of("conv2d", _first(IMAGES), WEIGHTS, data_format="channels_first")
_of("conv3d", VOLUMES, BLOCK, padding="same", strides=(1, 2, 1))
_of("conv2d_transpose", IMAGES, BACKWARD, (2, 10, 12, 2), strides=(2, 2), padding="same")
_of("conv2d_transpose", _first(IMAGES), BACKWARD, (2, 2, 7, 8), data_format="channels_first")
_of("conv2d_transpose", IMAGES, BACKWARD, (2, 5, 6, 2), padding="same", dilation_rate=(2, 2))
_of("separable_conv2d", IMAGES, DEPTHWISE, POINTWISE, padding="same")
_of("separable_conv2d", _first(IMAGES), DEPTHWISE, POINTWISE, data_format="channels_first")
_of("pool2d", IMAGES, (2, 2), strides=(2, 2), padding="same")
_of("pool2d", IMAGES, (3, 2), pool_mode="avg", padding="same")
_of("pool2d", _first(IMAGES), (2, 2), data_format="channels_first")
_of("pool3d", VOLUMES, (2, 2, 2), strides=(2, 2, 1), pool_mode="avg")
_of("pool3d", VOLUMES, (2, 2, 2))
_of("local_conv1d", ROWS, LOCAL1, (3,), (2,))
_of("local_conv2d", IMAGES, LOCAL2, (2, 3), (2, 2), (2, 2))
_of("bias_add", X, CHANNELS[:, 0].copy())
_of("bias_add", ROWS, CHANNELS[0].copy())
_of("bias_add", _first(ROWS), CHANNELS[0].copy(), data_format="channels_first")
_of("bias_add", ROWS, ROWS[0].copy())
_of("bias_add", IMAGES, CHANNELS[0].copy())
_of("bias_add", _first(IMAGES), CHANNELS[0].copy(), data_format="channels_first")
_of("bias_add", IMAGES, IMAGES[0].copy())
_of("bias_add", VOLUMES, CHANNELS[0, :2].copy())

_of("batch_normalization", IMAGES, *CHANNELS)
_of("batch_normalization", ROWS, *CHANNELS)
_of("normalize_batch_in_training", IMAGES, CHANNELS[0].copy(), CHANNELS[1].copy(), [0, 1, 2])
_of("normalize_batch_in_training", ROWS, CHANNELS[0].copy(), CHANNELS[1].copy(), [0, 1])
_of("normalize_batch_in_training", ROWS, None, None, [0, 2])

_of("binary_crossentropy", np.round(PROBABILITIES), PROBABILITIES)
_of("binary_crossentropy", np.round(PROBABILITIES), X[:, :3].copy(), from_logits=True)
_of("categorical_crossentropy", ONE_HOT, PROBABILITIES)
_of("categorical_crossentropy", ONE_HOT, PROBABILITIES.T.copy(), axis=0)
_of("categorical_crossentropy", ONE_HOT, X[:, :3].copy(), from_logits=True)
_of("sparse_categorical_crossentropy", np.array([2, 0, 1], "int64"), PROBABILITIES)
_of("sparse_categorical_crossentropy", np.array([[2], [0], [1]], "float32"), PROBABILITIES)
_of("sparse_categorical_crossentropy", np.array([[0, 1, 3], [2, 2, 1]], "int32"), CUBE, True)
_of(
    "sparse_categorical_crossentropy",
    np.array([[0, 1, 2, 2], [2, 2, 1, 0]], "int32"),
    CUBE,
    True,
    1,
)

_of("ctc_batch_cost", np.array([[0, 1, 2], [2, 1, 0]]), SCORES, np.array([[6], [5]]),
    np.array([[3], [2]]))  # fmt: skip


def _program(program: Program) -> Program:
    CASES[program.__name__.lstrip("_")] = program
    return program


@_program
def _concatenate(tf: Any, keras: Any) -> Any:
    k = keras.backend
    return k.concatenate([k.constant(X), k.constant(Y)]), k.stack([k.constant(X), k.constant(Y)], 1)


@_program
def _variables(tf: Any, keras: Any) -> Any:
    k = keras.backend
    v = k.variable(X, name="v")
    w = k.variable([1, 2], dtype="int64")
    k.set_value(w, [3, 4])
    k.batch_set_value([(v, Y)])
    made = [k.zeros((2, 3)), k.ones((2,), dtype="float64"), k.eye(3)]
    return [*k.batch_get_value([v, w]), k.get_value(v), k.eval(v + 1), *made]


@_program
def _updates(tf: Any, keras: Any) -> Any:
    k = keras.backend
    v = k.variable(X)
    x = k.placeholder((None, 4))
    f = k.function([x], [x * 2, k.sum(x)], updates=[(v, v + x), k.update_sub(k.variable(0.0), 1.0)])
    return [*f([Y]), *f([X]), k.get_value(v)]


@_program
def _switch(tf: Any, keras: Any) -> Any:
    k = keras.backend
    x, y = k.constant(X), k.constant(Y)
    yes = k.constant(np.array([[True], [False], [True]]), dtype="bool")
    whole = k.switch(k.constant(1, dtype="int32"), lambda: x, lambda: y)
    return whole, k.switch(yes, x, y), k.switch(k.greater(x, y), x, y)


@_program
def _phases(tf: Any, keras: Any) -> Any:
    k = keras.backend
    x = k.placeholder((None, 4))
    chosen = [k.in_train_phase(x, x * 2), k.in_test_phase(lambda: x, lambda: x * 3)]
    f = k.function([x, k.learning_phase()], chosen)
    with_given = k.in_train_phase(k.constant(1.0), k.constant(2.0), training=True)
    return [*f([X, True]), *f([X, False]), with_given]


@_program
def _folds(tf: Any, keras: Any) -> Any:
    k = keras.backend
    x = k.constant(X)
    return [
        k.map_fn(lambda row: k.sum(row * row), x),
        k.foldl(lambda a, b: a - b, x),
        k.foldr(lambda a, b: a - b, x),
        *k.gradients(k.sum(k.square(x)), [x]),
        k.stop_gradient(x),
    ]


@_program
def _ctc_decode(tf: Any, keras: Any) -> Any:
    k = keras.backend
    scores, lengths = k.constant(SCORES), k.constant([6, 4], dtype="int32")
    greedy, cost = k.ctc_decode(scores, lengths)
    _, costs = k.ctc_decode(scores, lengths, greedy=False, beam_width=10, top_paths=2)
    # Later versions pad to the number of frames.
    return [greedy[0][:, :4], cost, costs]


@_program
def _crossentropies_of_activations(tf: Any, keras: Any) -> Any:
    k = keras.backend
    logits = k.constant(X[:, :3] * 20)
    labels = k.constant(ONE_HOT)
    return [
        k.categorical_crossentropy(labels, k.softmax(logits)),
        k.sparse_categorical_crossentropy(k.constant([2, 0, 1]), k.softmax(logits)),
        k.binary_crossentropy(labels, k.sigmoid(logits)),
    ]


@_program
def _seeded(tf: Any, keras: Any) -> Any:
    k = keras.backend
    return [
        k.random_uniform((3,), seed=3),
        k.random_normal((3,), seed=3),
        k.truncated_normal((3,), seed=3),
        k.random_binomial((9,), p=0.4, seed=3),
        k.dropout(k.constant(X), 0.5, seed=3),
        k.random_uniform_variable((3,), -1, 1, seed=3),
        k.random_normal_variable((3,), 0, 1, seed=3),
    ]


@_program
def _facts(tf: Any, keras: Any) -> Any:
    k = keras.backend
    x = k.placeholder((2, None, 3), name="x")
    assert k.int_shape(x) == (2, None, 3)
    assert k.ndim(x) == 3 and k.dtype(x) == "float32"
    assert k.backend() == "tensorflow"
    assert not k.is_sparse(x) and k.is_sparse(k.placeholder((2, 2), sparse=True))
    assert [k.get_uid("a"), k.get_uid("a"), k.get_uid("b")] == [1, 2, 1]
    return [k.shape(k.constant(CUBE)), k.count_params(k.constant(CUBE)), k.cast_to_floatx([1, 2])]
