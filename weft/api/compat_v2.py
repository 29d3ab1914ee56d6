"""tf.compat.v2: TensorFlow 2's names, with its order of parameters, for graphs and sessions.

A function that TensorFlow 2 only declares differently is its TensorFlow 1 form with the parameters
of `_DECLARED`; all that is not mentioned here is the same in both.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any, NamedTuple

from weft.core.signatures import arguments
from weft.graph import graph
from weft.ops.state import variables

_EMPTY = inspect.Parameter.empty
_AS_IN_1 = object()
_MISSING = object()

# Name: parameters in TensorFlow 2's order. "input>tensor" is called `tensor` in TensorFlow 1,
# "axis=0" has another default there, "axis=" has a default only there, and "!strict=True" is an
# argument that is always given.
_DECLARED = """
argmax: input axis output_type name
argmin: input axis output_type name
assert_equal: x y message summarize name
assert_greater: x y message summarize name
assert_less: x y message summarize name
assert_rank: x rank message name
batch_to_space: input block_shape= crops= name
boolean_mask: tensor mask axis name
cond: pred true_fn false_fn name
constant: value dtype shape name
constant_initializer: value
convert_to_tensor: value dtype dtype_hint name
device: device_name>device_name_or_function
expand_dims: input axis= name
gather: params indices validate_indices axis batch_dims name
gather_nd: params indices batch_dims name
gradients: ys xs grad_ys name gate_gradients aggregation_method stop_gradients
    unconnected_gradients !colocate_gradients_with_ops=True
hessians: ys xs gate_gradients aggregation_method name !colocate_gradients_with_ops=True
norm: tensor ord axis keepdims name
ones_like: input>tensor dtype name
pad: tensor paddings mode constant_values name
random_normal_initializer: mean stddev=0.05 seed
random_uniform_initializer: minval=-0.05 maxval=0.05 seed
reduce_all: input_tensor axis keepdims=False name
reduce_any: input_tensor axis keepdims=False name
reduce_logsumexp: input_tensor axis keepdims=False name
reduce_max: input_tensor axis keepdims=False name
reduce_mean: input_tensor axis keepdims=False name
reduce_min: input_tensor axis keepdims=False name
reduce_prod: input_tensor axis keepdims=False name
reduce_sum: input_tensor axis keepdims=False name
reverse_sequence: input seq_lengths seq_axis batch_axis name
shape: input out_type name
size: input out_type name
space_to_batch: input block_shape= paddings= name
squeeze: input axis name
transpose: a perm conjugate name
tuple: tensors control_inputs name
while_loop: cond body loop_vars shape_invariants parallel_iterations back_prop swap_memory
    maximum_iterations name !return_same_structure=True
zeros_like: input>tensor dtype name
debugging.assert_all_finite: x= message= name
debugging.assert_greater_equal: x y message summarize name
debugging.assert_less_equal: x y message summarize name
debugging.assert_near: x y rtol atol message summarize name
debugging.assert_negative: x message summarize name
debugging.assert_non_negative: x message summarize name
debugging.assert_non_positive: x message summarize name
debugging.assert_none_equal: x y summarize message name
debugging.assert_positive: x message summarize name
debugging.assert_rank_at_least: x rank message name
debugging.assert_rank_in: x ranks message name
debugging.assert_scalar: tensor message name
image.crop_and_resize: image boxes box_indices= crop_size= method extrapolation_value=0.0 name
image.draw_bounding_boxes: images boxes colors= name
io.decode_csv: records record_defaults field_delim use_quote_delim na_value select_cols name
io.decode_raw: input_bytes= out_type= little_endian name
io.parse_example: serialized features example_names name
io.parse_single_example: serialized features example_names name
io.serialize_many_sparse: sp_input out_type name
io.serialize_sparse: sp_input out_type name
math.confusion_matrix: labels predictions num_classes weights dtype name
math.count_nonzero: input= axis keepdims dtype name
math.in_top_k: targets predictions k name
nn.avg_pool: input= ksize= strides= padding= data_format name
nn.conv1d: input= filters= stride= padding= data_format='NWC' dilations name
nn.conv2d: input filters= strides= padding= data_format dilations=(1,1,1,1) name
nn.conv2d_transpose: input= filters= output_shape= strides= padding data_format dilations name
nn.conv3d: input filters= strides= padding= data_format dilations=(1,1,1,1,1) name
nn.convolution: input filters= strides padding='VALID' data_format dilations name
nn.crelu: features axis name
nn.depth_to_space: input block_size data_format name
nn.depthwise_conv2d: input filter strides padding data_format dilations name
nn.dropout: x rate= noise_shape seed name
nn.embedding_lookup: params ids max_norm name !partition_strategy='div'
nn.embedding_lookup_sparse: params sp_ids sp_weights combiner max_norm name
    !partition_strategy='div'
nn.in_top_k: targets predictions k name
nn.log_softmax: logits axis name
nn.max_pool: input>value ksize strides padding data_format name
nn.moments: x axes shift keepdims=False name
nn.nce_loss: weights biases labels inputs num_sampled num_classes num_true sampled_values
    remove_accidental_hits name !partition_strategy='div'
nn.pool: input window_shape pooling_type strides padding='VALID' data_format dilations name
nn.safe_embedding_lookup_sparse: embedding_weights sparse_ids sparse_weights combiner default_id
    max_norm name !partition_strategy='div'
nn.sampled_softmax_loss: weights biases labels inputs num_sampled num_classes num_true
    sampled_values remove_accidental_hits seed name !partition_strategy='div'
nn.separable_conv2d: input depthwise_filter pointwise_filter strides padding data_format dilations
    name
nn.softmax: logits axis name
nn.space_to_depth: input block_size data_format name
nn.weighted_cross_entropy_with_logits: labels= logits= pos_weight= name
nn.weighted_moments: x axes frequency_weights keepdims=False name
random.poisson: shape lam dtype seed name
sparse.concat: axis sp_inputs expand_nonconcat_dims=False name
sparse.segment_mean: data indices segment_ids num_segments name
sparse.segment_sum: data indices segment_ids num_segments name
strings.length: input unit name
strings.reduce_join: inputs axis keepdims=False separator name
strings.substr: input pos len unit name
strings.to_hash_bucket: input= num_buckets= name
strings.to_number: input= out_type name
"""

# Names that are something else in TensorFlow 2: where that is.
_PLACES = {
    "Variable": "weft.api.compat_v2.Variable",
    "name_scope": "weft.api.compat_v2.name_scope",
    "where": "weft.where_v2",
    "image.ResizeMethod": "weft.ops.image.scaling_v2.ResizeMethod",
    "image.resize": "weft.ops.image.scaling_v2.resize",
    "image.resize_with_pad": "weft.ops.image.scaling_v2.resize_with_pad",
    "keras.backend.name_scope": "weft.api.compat_v2.name_scope",
    "keras.initializers.GlorotNormal": "weft.keras.initializers.glorot_normal",
    "keras.initializers.GlorotUniform": "weft.keras.initializers.glorot_uniform",
    "keras.layers.BatchNormalization": "weft.lib.keras.layers.normalization_v2.BatchNormalization",
    "keras.layers.DenseFeatures": "weft.lib.feature_column.layers_v2.DenseFeatures",
    "keras.layers.GRU": "weft.lib.keras.layers.recurrent_v2.GRU",
    "keras.layers.GRUCell": "weft.lib.keras.layers.recurrent_v2.GRUCell",
    "keras.layers.LSTM": "weft.lib.keras.layers.recurrent_v2.LSTM",
    "keras.layers.LSTMCell": "weft.lib.keras.layers.recurrent_v2.LSTMCell",
    "keras.losses.Reduction": "weft.lib.keras.losses.weighting.Reduction",
    "nn.ctc_loss": "weft.nn.ctc_loss_v2",
    "nn.softmax_cross_entropy_with_logits": "weft.nn.softmax_cross_entropy_with_logits_v2",
    "random.set_seed": "weft.set_random_seed",
    "saved_model.load": "weft.saved_model.load_v2",
    "saved_model.save": "weft.saved_model.save",
    "summary": "weft.lib.summary.v2",
    "test.compute_gradient": "weft.lib.testing.function_gradients.compute_gradient",
}
# Namespaces that are one and the same in both, and those inside of others that are not.
_SHARED = frozenset("data distribute estimator nest".split())
_INNER = frozenset({"keras.backend", "keras.initializers", "keras.layers", "keras.losses"})
# Namespaces of Keras that TensorFlow 2 also has at its top.
_OF_KERAS = frozenset("initializers losses metrics optimizers".split())
# What is not the same and not here, and what programs look for to see that this is TensorFlow 1.
_ONLY_IN_1 = frozenset(
    "Session InteractiveSession app contrib flags get_variable gfile"
    " keras.backend.get_session keras.backend.set_session keras.layers.CuDNNGRU"
    " keras.layers.CuDNNLSTM global_variables layers logging placeholder reset_default_graph variable_scope".split()
)


class Parameter(NamedTuple):
    """One word of `_DECLARED`."""

    name: str
    in_1: str
    default: Any
    fixed: bool

    @classmethod
    def read(cls, word: str) -> Parameter:
        text, given, literal = word.lstrip("!").partition("=")
        name, _, in_1 = text.partition(">")
        default = ast.literal_eval(literal) if literal else _EMPTY
        return cls(name, in_1 or name, default if given else _AS_IN_1, word.startswith("!"))


@functools.cache
def _declared() -> dict[str, list[Parameter]]:
    lines = _DECLARED.strip().replace("\n    ", " ").splitlines()
    table = (line.partition(":") for line in lines)
    return {name: [Parameter.read(word) for word in text.split()] for name, _, text in table}


def _rearranged(function: Callable[..., Any], words: list[Parameter]) -> Callable[..., Any]:
    """`function` with TensorFlow 2's parameters."""
    before = inspect.signature(function).parameters
    fixed = {word.in_1: word.default for word in words if word.fixed}
    free = {word.name: word for word in words if not word.fixed}
    signature = inspect.Signature(_parameters(free.values(), before))

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        given = arguments(signature, function.__name__, args, kwargs)
        return function(**{free[k].in_1: v for k, v in given.items()}, **fixed)

    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _parameters(
    words: Iterable[Parameter], before: Mapping[str, inspect.Parameter]
) -> list[inspect.Parameter]:
    """The parameters, with TensorFlow 1's defaults where the table has none."""
    found = []
    for word in words:
        default = before[word.in_1].default if word.default is _AS_IN_1 else word.default
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        found.append(inspect.Parameter(word.name, kind, default=default))
    return found


class Namespace(ModuleType):
    """A namespace of TensorFlow 2, which looks each name up when it is asked for."""

    def __init__(self, name: str, in_1: Any) -> None:
        super().__init__(".".join(filter(None, ("weft.compat.v2", name))))
        self.__path__: list[str] = []
        self._below, self._in_1 = f"{name}." if name else "", in_1

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._find(name)
        self.__dict__[name] = found
        return found

    def _find(self, name: str) -> Any:
        full = self._below + name
        if full in _PLACES:
            return _at(_PLACES[full])
        if full in _OF_KERAS:
            return getattr(self.keras, name)
        in_1: Any = getattr(self._in_1, name, _MISSING)  # `newaxis` is None
        if in_1 is _MISSING or full in _ONLY_IN_1:
            raise AttributeError(
                f"tf.compat.v2 has no attribute {full!r}: weft implements TensorFlow 1.15's graphs"
                f" and sessions; look for tf.{full} or tf.compat.v1.{full}"
            )
        if isinstance(in_1, ModuleType) and full not in _SHARED:
            if not self._below or full in _INNER:
                return Namespace(full, in_1)
        # `tf.math.reduce_sum` is `tf.reduce_sum`.
        root = getattr(_at("weft"), name, None)
        declared = _declared().get(full) or (_declared().get(name) if root is in_1 else None)
        return _rearranged(in_1, declared) if declared else in_1

    def __dir__(self) -> list[str]:
        below = {each.removeprefix(self._below) for each in _PLACES if each.startswith(self._below)}
        shown = below | set(dir(self._in_1)) | set(self.__dict__)
        return sorted(name for name in shown if self._below + name not in _ONLY_IN_1)


def _at(place: str) -> Any:
    """The object at a dotted place; a module of it may not have been imported yet."""
    module, _, name = place.rpartition(".")
    owner = _at(module) if module else None
    return getattr(owner, name) if hasattr(owner, name) else importlib.import_module(place)


class _VariableType(type):
    """`isinstance(x, tf.compat.v2.Variable)` is true of every variable."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return variables.Variable(*args, **kwargs | {"use_resource": True})

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, variables.Variable)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, variables.Variable)

    def __getattr__(cls, name: str) -> Any:
        return getattr(variables.Variable, name)


class Variable(metaclass=_VariableType):
    """A resource variable."""


class name_scope(graph.name_scope):
    """Names the operations made inside; a name that ends in "/" is taken as it is."""

    def __init__(self, name: str) -> None:
        if not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        super().__init__(name)
