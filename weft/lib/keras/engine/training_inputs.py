"""From what users pass to `fit` to lists of arrays; models that learn their inputs from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor
from weft.graph.slices import SparseTensor, SparseTensorValue
from weft.graph.tensor_util import is_tensor
from weft.graph.type_spec import TensorSpec
from weft.lib.keras.backend import is_placeholder, learning_phase, placeholder
from weft.lib.keras.backend.config import floatx
from weft.lib.keras.backend.graph_state import state_of
from weft.lib.keras.backend.symbolic import as_arrays, in_model_graph, runs_eagerly
from weft.lib.keras.engine import training_data as data
from weft.lib.keras.engine import training_datasets as datasets
from weft.lib.keras.engine.node import int_shape
from weft.lib.keras.engine.tracking import no_automatic_dependency_tracking
from weft.lib.platform import tf_logging as logging
from weft.ops.math import casts

Standard = tuple[Any, Any, Any]


def check_steps(x: Any, steps: int | None, steps_name: str) -> bool:
    """Whether data are counted in steps; raises where the number of steps has to be given."""
    if x is None or data.has_tensors(x) or (isinstance(x, list) and not x):
        if steps is None:
            raise ValueError(
                "When using data tensors as input to a model, you should specify the "
                f"`{steps_name}` argument."
            )
        return True
    if datasets.is_dataset(x):
        return True
    if steps is not None:
        arrays = list(x.values()) if isinstance(x, dict) else [x]
        if any(isinstance(each, (np.ndarray, list, tuple)) for each in arrays):
            logging.warning(
                "When passing input data as arrays, do not specify `steps_per_epoch`/`steps` "
                "argument. Please use `batch_size` instead."
            )
    return False


def _check_divisible(x: Any, steps: int) -> None:
    """ValueError if `steps` batches of one size do not use up all arrays, and no more."""
    first = nest.flatten(x)[0]
    if isinstance(first, np.ndarray) and len(first) % steps:
        raise ValueError(
            f"The number of samples {len(first)} is not divisible by steps {steps}. Please change "
            "the number of steps to a value that can consume all the samples"
        )


class TrainingInputs:
    inputs: Any
    outputs: Any
    built: bool
    stateful: Any
    optimizer: Any
    layers: list[Any]
    _is_compiled: bool
    _is_graph_network: bool
    _training_endpoints: list[Any]
    _feed_input_names: list[str]
    _feed_input_shapes: list[Any]

    def _standardize_user_data(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        batch_size: int | None = None,
        check_steps_name: str | None = None,
        steps: int | None = None,
        validation_split: float = 0.0,
    ) -> Standard:
        """(inputs, targets, weights), each a list in the model's order; weights may be None.

        A model without inputs gets them here, and is compiled.
        """
        of_tensors = data.has_tensors(y)
        if steps is not None and runs_eagerly():
            _check_divisible(x, steps)
        x, y, sample_weight = as_arrays((x, y, sample_weight))
        of_dataset = datasets.is_dataset(x) or datasets.is_iterator(x)
        if of_dataset:
            datasets.check_alone(x, y, sample_weight, validation_split)
            if datasets.is_iterator(x):
                x, y, sample_weight = datasets.elements(x)
        if check_steps_name:
            check_steps(x, steps, check_steps_name)
        named = isinstance(x, dict) and not self.inputs
        if self._was_built_from(x, y, of_dataset):
            return [], [], None
        if not datasets.is_dataset(x):
            x = self._standard_inputs(x)
        if y is None:
            return x, [], None
        y, weights = self._standard_targets(x, y, sample_weight, class_weight)
        if self._is_graph_network and not of_tensors:
            fed = [e for e in self._training_endpoints if e.feeds_target]
            data.check_targets(y, [e.loss_fn for e in fed], [e.target_shape for e in fed])
        self._check_stateful(x, batch_size, of_dataset)
        return (dict(zip(self._feed_input_names, x, strict=True)) if named else x), y, weights

    def _was_built_from(self, x: Any, y: Any, of_dataset: bool) -> bool:
        """Builds and compiles if that is to be done; true if tensors of the program are in place"""
        found: list[Any] = []
        built = not self.inputs
        if built:
            found, y = self._build_model_with_inputs(x, y, of_dataset)
        compiled = not self._is_compiled and bool(self.optimizer)
        if compiled:
            self._compile_from_inputs(found, y, x, of_dataset)
        return built and compiled and not of_dataset and any(is_tensor(v) for v in found)

    def _standard_inputs(self, x: Any) -> list[Any]:
        shapes = self._feed_input_shapes if self._is_graph_network else None
        found = data.as_arrays(x, self._feed_input_names, shapes, "input")
        expected = [t for t in self.inputs if is_placeholder(t)]
        return [_as_fed(a, b) for a, b in zip(found, expected, strict=False)]

    def _standard_targets(
        self, x: Any, y: Any, sample_weight: Any, class_weight: Any
    ) -> tuple[list[Any], Any]:
        self._set_sample_weight_modes(self.sample_weight_mode)  # type: ignore[attr-defined]
        fed = [e for e in self._training_endpoints if e.feeds_target]
        names = [e.output_name for e in fed]
        y = data.as_arrays(y, names, None, "target")
        y = [_as_fed(each, endpoint.target) for each, endpoint in zip(y, fed, strict=True)]
        weights = [
            data.sample_weights_of(ref, sw, cw, endpoint.sample_weight_mode)
            for ref, sw, cw, endpoint in zip(
                y,
                data.weights_per_output(sample_weight, names, "sample_weight"),
                data.weights_per_output(class_weight, names, "class_weight"),
                fed,
                strict=True,
            )
        ]
        data.check_lengths(x, y, weights)
        # Where some outputs have weights, those of the others are 1 by default.
        return y, None if all(w is None for w in weights) else weights

    def _check_stateful(self, x: Any, batch_size: int | None, of_dataset: bool) -> None:
        if self.stateful and batch_size and not of_dataset and x[0].shape[0] % batch_size:
            raise ValueError(
                "In a stateful network, you should only pass inputs with a number of samples that "
                f"can be divided by the batch size. Found: {x[0].shape[0]} samples"
            )

    # ---- models that are built by their first data ----

    def _build_model_with_inputs(
        self, inputs: Any, targets: Any, of_dataset: bool
    ) -> tuple[list[Any], Any]:
        original = inputs
        if datasets.is_dataset(inputs):
            inputs, targets, _ = datasets.elements(inputs)
        _check_types(inputs, original)
        flat = _in_order(inputs)
        for x in flat:
            if data.is_composite(x):
                raise ValueError(
                    "All SparseTensor and RaggedTensor inputs must be explicitly declared using a "
                    f"keras.Input() with sparse=True or ragged=True. We found an undeclared input "
                    f"{x}. For Sequential models, please add a keras.Input() as your first Layer. "
                    "For subclassed models, please call self._set_inputs() on your input set, which"
                    " you can create using keras.Input() for each input to your model."
                )
        if of_dataset:
            inputs = nest.map_structure(lambda t: TensorSpec(t.shape, t.dtype), inputs)
        elif data.has_tensors(inputs):
            inputs = nest.map_structure(_as_floatx, inputs)
        self._set_inputs(inputs)
        return flat, targets

    def _compile_from_inputs(
        self, inputs: list[Any], target: Any, original: Any, of_dataset: bool
    ) -> None:
        targets = list(target) if isinstance(target, (list, tuple)) else [target]
        everything = inputs + [t for t in targets if t is not None]
        mixed = {is_tensor(v) for v in everything} == {True, False}
        if mixed:
            raise ValueError(
                "Do not pass inputs that mix Numpy arrays and TensorFlow tensors. You passed: "
                f"x={original}; y={target}"
            )
        tensors = None
        if target is not None and not of_dataset:
            tensors = [t for t in targets if is_tensor(t)]
        self.compile(  # type: ignore[attr-defined]
            optimizer=self.optimizer,
            loss=self.loss,  # type: ignore[attr-defined]
            metrics=self._compile_metrics,  # type: ignore[attr-defined]
            weighted_metrics=self._compile_weighted_metrics,  # type: ignore[attr-defined]
            loss_weights=self.loss_weights,  # type: ignore[attr-defined]
            target_tensors=tensors,
            sample_weight_mode=self.sample_weight_mode,  # type: ignore[attr-defined]
            run_eagerly=self._run_eagerly,  # type: ignore[attr-defined]
        )

    @in_model_graph
    def _set_inputs(self, inputs: Any, outputs: Any = None, training: Any = None) -> None:
        """Makes placeholders like `inputs`, where these are arrays, and calls the model on them."""
        inputs = self._set_input_attrs(inputs)
        if outputs is None:
            outputs = self._outputs_on(inputs, training)
        self._set_output_attrs(outputs)

    def _outputs_on(self, inputs: Any, training: Any) -> Any:
        """The model's outputs; None where these are not known until it runs."""
        phase = {}
        if self._expects_training_arg:  # type: ignore[attr-defined]
            phase["training"] = learning_phase() if training is None else training
        try:
            return self(inputs, **phase)  # type: ignore[operator]
        except NotImplementedError:
            if self.dynamic:  # type: ignore[attr-defined]
                return None
            raise

    @no_automatic_dependency_tracking
    def _set_input_attrs(self, inputs: Any) -> Any:
        if self.inputs:
            raise ValueError("Model inputs are already set.")
        if type(self).__name__ == "Sequential" and not self.built:
            self._build_input_shape = self._shape_to_build(inputs)
        names = _input_names(inputs)
        flat = [_placeholder_for(x, k) for k, x in zip(names, _in_order(inputs), strict=True)]
        self.inputs, self.input_names = flat, names
        fed = [(name, x) for name, x in zip(names, flat, strict=True) if is_placeholder(x)]
        self._feed_input_names = [name for name, _ in fed]
        self._feed_inputs = [x for _, x in fed]
        self._feed_input_shapes = [int_shape(x) for _, x in fed]
        self._nested_inputs: Any = flat if isinstance(inputs, (list, tuple)) else flat[0]
        if isinstance(inputs, dict):
            self._nested_inputs = dict(zip(names, flat, strict=True))
        return self._nested_inputs

    def _shape_to_build(self, inputs: Any) -> tuple[Any, ...]:
        if isinstance(inputs, dict):
            if not getattr(self.layers[0], "_is_feature_layer", False):
                raise ValueError(
                    "Passing a dictionary input to a Sequential Model which doesn't have "
                    "FeatureLayer as the first layer is an error."
                )
            return (None,)
        shape = inputs if isinstance(inputs, TensorShape) else TensorShape(inputs.shape)
        return (None, *shape.as_list()[1:])

    @no_automatic_dependency_tracking
    def _set_output_attrs(self, outputs: Any) -> None:
        self.outputs = nest.flatten(outputs)
        self.output_names = [f"output_{i + 1}" for i in range(len(self.outputs))]
        self.built = True

    def _called(self, inputs: Any, outputs: Any) -> None:
        if not self.inputs and not runs_eagerly():
            self._set_inputs(inputs, outputs)
        waiting = state_of().restores.get(id(self))
        if waiting is not None and not runs_eagerly():
            waiting.into_initializers()


def _in_order(inputs: Any) -> list[Any]:
    if isinstance(inputs, dict):
        return [inputs[key] for key in sorted(inputs)]
    return list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]


def _input_names(inputs: Any) -> list[str]:
    if isinstance(inputs, dict):
        return sorted(inputs)
    return [f"input_{i + 1}" for i in range(len(_in_order(inputs)))]


def _placeholder_for(x: Any, name: str) -> Any:
    """A placeholder for batches like the array or spec `x`; a tensor stays itself."""
    if isinstance(x, (list, float, int)):
        x = np.asarray(x)
        x = np.expand_dims(x, 1) if x.ndim == 1 else x
    if not isinstance(x, (np.ndarray, TensorSpec)):
        return x
    dtype = dtypes.as_dtype(x.dtype)
    if isinstance(x, np.ndarray) and dtype.is_floating:
        dtype = dtypes.as_dtype(floatx())
    shape = (None, *(TensorShape(x.shape).as_list()[1:] or [1]))
    return placeholder(shape=shape, name=name, dtype=dtype)


def _check_types(inputs: Any, original: Any) -> None:
    if isinstance(inputs, dict):
        return
    for each in inputs if isinstance(inputs, (list, tuple)) else [inputs]:
        if not isinstance(each, np.ndarray) and not is_tensor(each):
            raise ValueError(
                "Please provide as model inputs either a single array or a list of arrays. You "
                f"passed: inputs={original}"
            )


def _as_floatx(x: Any) -> Any:
    x = x if is_tensor(x) else casts.cast(x, dtypes.as_dtype(np.asarray(x).dtype))
    return casts.cast(x, floatx()) if x.dtype.is_floating else x


def _as_fed(value: Any, expected: Any) -> Any:
    """A sparse matrix of SciPy as what the input is fed with."""
    if not hasattr(value, "tocoo"):
        return value
    if isinstance(expected, Tensor):
        return value.toarray()
    matrix = value.tocoo()
    indices = np.stack([matrix.row, matrix.col], axis=1).astype(np.int64)
    if isinstance(expected, SparseTensor):
        return SparseTensorValue(indices, matrix.data, np.array(matrix.shape, np.int64))
    return value
