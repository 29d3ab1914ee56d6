"""Names of `tensorflow.python.keras.testing_utils`: small models of the type a test is for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import weft as tf
from weft.legacy.internals import tf2
from weft.legacy.internals.keras_modes import get_model_type

Made = Callable[[], dict[str, Any]]


class _SubclassModel(tf.keras.Model):
    """A model that calls layers, its attributes, in turn."""

    def __init__(
        self,
        make: Made,
        late: bool = False,
        input_tensor: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._make = make
        self._names: tuple[str, ...] = ()
        if not late:
            self._take()
        if input_tensor is not None:
            self._set_inputs(input_tensor)

    def _take(self) -> None:
        layers = self._make()
        for name, layer in layers.items():
            setattr(self, name, layer)
        self._names = tuple(layers)

    def build(self, input_shape: Any) -> None:
        if not self._names:
            self._take()

    def call(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return _through([getattr(self, name) for name in self._names], inputs)


class _Branches:
    """Two branches of layers, and what they share before and after."""

    def __init__(self, a: Any, b: Any, before: Any, after: Any) -> None:
        self.parts = [list(part or ()) for part in (a, b, before, after)]

    def __call__(self, inputs: Any) -> Any:
        branch_a, branch_b, before, after = self.parts
        a, b = [_through(before, inputs)] * 2 if before else inputs
        return _through(after, [_through(branch_a, a), _through(branch_b, b)])


class _BranchedModel(tf.keras.Model):
    """A model of two branches; its layers are its own from the start, or once it is built."""

    def __init__(self, branches: _Branches, late: bool = False) -> None:
        super().__init__()
        self._branches = (branches,)
        if not late:
            self.parts = branches.parts

    def build(self, input_shape: Any) -> None:
        self.parts = self._branches[0].parts

    def call(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        return self._branches[0](inputs)


def _through(layers: Sequence[Any], value: Any) -> Any:
    for layer in layers:
        value = layer(value)
    return value


def _unknown(model_type: str) -> ValueError:
    return ValueError(f"Unknown model type {model_type}")


def _mlp(num_hidden: int, num_classes: int, **first: Any) -> list[Any]:
    dense = tf.keras.layers.Dense
    last = "sigmoid" if num_classes == 1 else "softmax"
    return [
        dense(num_hidden, activation="relu", **first),
        dense(num_classes, activation=last),
    ]


def get_small_sequential_mlp(
    num_hidden: int, num_classes: int, input_dim: int | None = None
) -> Any:
    first = {"input_dim": input_dim} if input_dim else {}
    return tf.keras.Sequential(_mlp(num_hidden, num_classes, **first))


def get_small_functional_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    inputs = tf.keras.Input(shape=(input_dim,))
    return tf.keras.Model(inputs, _through(_mlp(num_hidden, num_classes), inputs))


def _small_subclass_mlp(num_hidden: int, num_classes: int, late: bool) -> Any:
    names = "layer_a", "layer_b"
    return _SubclassModel(
        lambda: dict(zip(names, _mlp(num_hidden, num_classes), strict=True)), late
    )


def get_small_subclass_mlp(num_hidden: int, num_classes: int) -> Any:
    return _small_subclass_mlp(num_hidden, num_classes, late=False)


def get_small_subclass_mlp_with_custom_build(num_hidden: int, num_classes: int) -> Any:
    return _small_subclass_mlp(num_hidden, num_classes, late=True)


_WITHOUT_INPUT = {
    "subclass": get_small_subclass_mlp,
    "subclass_custom_build": get_small_subclass_mlp_with_custom_build,
}
_WITH_INPUT = {
    "sequential": get_small_sequential_mlp,
    "functional": get_small_functional_mlp,
}


def get_small_mlp(num_hidden: int, num_classes: int, input_dim: int) -> Any:
    """A network of one hidden layer, of the model type of the test."""
    model_type = get_model_type()
    if model_type in _WITHOUT_INPUT:
        return _WITHOUT_INPUT[model_type](num_hidden, num_classes)
    if model_type in _WITH_INPUT:
        return _WITH_INPUT[model_type](num_hidden, num_classes, input_dim)
    raise _unknown(model_type)


def get_model_from_layers(
    layers: Sequence[Any],
    input_shape: Any = None,
    input_dtype: Any = None,
    name: str | None = None,
    input_ragged: bool | None = None,
    input_sparse: bool | None = None,
) -> Any:
    """A model that calls layers in turn, of the model type of the test."""
    model_type = get_model_type()
    spec = {"dtype": input_dtype, "ragged": input_ragged, "sparse": input_sparse}
    if model_type == "sequential":
        first = tf.keras.layers.InputLayer(input_shape=input_shape, **spec) if input_shape else None
        return tf.keras.Sequential([*([first] if first else ()), *layers], name=name)
    if model_type == "functional":
        if not input_shape:
            raise ValueError("Cannot create a functional model from layers with no input shape.")
        inputs = tf.keras.Input(shape=input_shape, **spec)
        return tf.keras.Model(inputs, _through(layers, inputs), name=name)
    if model_type not in _WITHOUT_INPUT:
        raise _unknown(model_type)
    late = model_type == "subclass_custom_build"
    told = bool(input_ragged or input_sparse) and not late
    inputs = tf.keras.Input(shape=input_shape, **spec) if told else None
    named = {f"layer{i}": layer for i, layer in enumerate(layers)}
    return _SubclassModel(lambda: named, late, inputs, name=name)


def get_multi_io_model(
    branch_a: Sequence[Any],
    branch_b: Sequence[Any],
    shared_input_branch: Sequence[Any] | None = None,
    shared_output_branch: Sequence[Any] | None = None,
) -> Any:
    """A model of two branches, of the model type of the test.

    The first layer of the shared branch before them (without one: of each branch) is its input.
    """
    inputs: Any
    if shared_input_branch:
        inputs, *shared_input_branch = shared_input_branch
    else:
        inputs = branch_a[0], branch_b[0]
        branch_a, branch_b = branch_a[1:], branch_b[1:]
    branches = _Branches(branch_a, branch_b, shared_input_branch, shared_output_branch)
    model_type = get_model_type()
    if model_type == "sequential":
        raise ValueError("Cannot use `get_multi_io_model` to construct sequential models")
    if model_type == "functional":
        return tf.keras.Model(inputs, branches(inputs))
    if model_type not in _WITHOUT_INPUT:
        raise _unknown(model_type)
    return _BranchedModel(branches, late=model_type == "subclass_custom_build")


_OPTIMIZERS = {
    name.lower(): name for name in "Adadelta Adagrad Adam Adamax Nadam RMSprop SGD".split()
}


def get_v2_optimizer(name: str, **kwargs: Any) -> Any:
    """An optimizer of Keras by its name in small letters."""
    if name not in _OPTIMIZERS:
        raise ValueError(
            f"Could not find requested v2 optimizer: {name}\nValid choices: {list(_OPTIMIZERS)}"
        )
    return getattr(tf.keras.optimizers, _OPTIMIZERS[name])(**kwargs)


def get_expected_metric_variable_names(var_names: list[str], name_suffix: str = "") -> list[str]:
    """The names of the variables of a metric: in a graph, they have a suffix."""
    later = tf.executing_eagerly() or tf2.enabled()
    suffix = "" if later else name_suffix
    return [f"{name}{suffix}:0" for name in var_names]
