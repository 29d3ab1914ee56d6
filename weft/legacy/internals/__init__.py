"""Helpers that programs take from TensorFlow's internal modules and that are public nowhere.

Each class stands for one module (`device_lib` for `tensorflow.python.client.device_lib`); the
table in `tensorflow_modules` says which. Only what programs were seen to use is here.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import itertools
import re
import sys
import types
import unittest.mock
from collections import namedtuple
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import weft as tf
from weft.core.nest import levels
from weft.graph import collection_def
from weft.graph.constant_value import folded_value
from weft.graph.meta_graph_parts import op_list
from weft.graph.op_def import GRADIENTS, REGISTRY
from weft.lib.keras.layers.decide import choose, known_value
from weft.lib.platform import behavior
from weft.lib.rnn import cells
from weft.storage.tf_record import RecordReader


class tf2:
    @staticmethod
    def enabled() -> bool:
        """Whether the program turned on TensorFlow 2's behavior."""
        return behavior.v2_behavior_enabled()


class build_info:
    """How TensorFlow was built; there is no CUDA that weft was built with."""

    is_cuda_build = is_rocm_build = False
    cuda_version_number = cudnn_version_number = ""


class module_wrapper:
    """What announces names that are deprecated: how often, programs set; weft announces none."""

    _PER_MODULE_WARNING_LIMIT = 1


class _GradientRegistry:
    """The gradients by name: guided backpropagation asks whether its own is there already."""

    _name, _registry = "gradient", GRADIENTS

    def list(self) -> Any:
        return self._registry.keys()

    def lookup(self, name: str) -> Any:
        if name not in self._registry:
            raise LookupError(f"{self._name} registry has no entry for: {name}")
        return self._registry[name]


gradient_registry = _GradientRegistry()


class RecordPoller:
    """A file of records that may still grow: a call at its end can be made again later."""

    def __init__(self, reader: RecordReader) -> None:
        self._reader, self._record = reader, b""

    def GetNext(self) -> None:
        """Goes to the next record."""
        found = self._reader.read()
        if found is None:
            raise tf.errors.OutOfRangeError(None, None, "eof")
        self._record = found

    def record(self) -> bytes:
        """The record that `GetNext` went to."""
        return self._record

    def offset(self) -> int:
        """The place in the file after it."""
        return self._reader.offset

    def Close(self) -> None:
        self._reader.close()


class pywrap:
    @staticmethod
    def PyRecordReader_New(
        filename: str | bytes, start_offset: int, compression_type: str | bytes, status: Any = None
    ) -> RecordPoller:
        """A reader of records; what cannot be opened raises its error, so that `status` is fine."""
        kind = tf.compat.as_str(compression_type)
        return RecordPoller(RecordReader(tf.compat.as_str(filename), kind, start_offset))

    @staticmethod
    def EqualGraphDefWrapper(actual: bytes, expected: bytes) -> bytes:
        """How two serialized graphs differ; nothing when they do not."""
        try:
            tf.test.assert_equal_graph_def(
                tf.GraphDef.FromString(actual), tf.GraphDef.FromString(expected)
            )
        except AssertionError as difference:
            return str(difference).encode()
        return b""

    @staticmethod
    def TF_TryEvaluateConstant_wrapper(graph: Any, output: Any) -> Any:
        """The value of a tensor, if it follows from constants and known shapes; else None."""
        return folded_value(output)

    @staticmethod
    def TF_GetAllOpList() -> bytes:
        """All operations as one serialized OpList, in the place of a buffer of the C API."""
        return op_list(REGISTRY).SerializeToString()

    @staticmethod
    def TF_GetBuffer(buffer: bytes) -> bytes:
        """The bytes of a buffer."""
        return buffer


class rnn_cell_impl:
    """Names that cells outside TensorFlow have from the module of its own."""

    _WEIGHTS_VARIABLE_NAME, _BIAS_VARIABLE_NAME = cells.KERNEL, cells.BIAS
    ASSERT_LIKE_RNNCELL_ERROR_REGEXP = "is not an RNNCell"

    @staticmethod
    def _concat(prefix: Any, suffix: Any, static: bool = False) -> Any:
        """The shape `prefix + suffix`: a tensor, or a list of what is known of it."""
        if not static:
            return cells.concat_shape(prefix, suffix)
        known = cells.concat_static(prefix, suffix)
        return None if known.ndims is None else known.as_list()

    @staticmethod
    def _like_rnncell(cell: Any) -> bool:
        try:
            cells.assert_like_rnncell("cell", cell)
        except TypeError:
            return False
        return True


class monitoring:
    """Gauges that TensorFlow reports its use by: nothing is reported here."""

    class Gauge:
        def __init__(self, *args: Any) -> None:
            """Takes a name, a description and labels."""

        def get_cell(self, *labels: str) -> Any:
            return self

        def _ignore(self, value: Any = None) -> None:
            """Keeps nothing."""

        set = increase_by = add = _ignore

    BoolGauge = StringGauge = IntGauge = Counter = Sampler = Gauge


class device_lib:
    @staticmethod
    def list_local_devices(session_config: Any = None) -> list[Any]:
        """The devices that a session in this process would have, as messages. Loads jax."""
        from weft.cluster.transport.methods import from_device
        from weft.core.device_name import short_name
        from weft.runtime.devices.device import local_devices

        found = [from_device(device) for device in local_devices(session_config)]
        for each in found:
            each.name = short_name(each.name)
        return found


class ops:
    """Names of `framework.ops` that are nowhere else."""

    _uids = itertools.count(1)
    _USE_C_API = True
    register_proto_function = staticmethod(collection_def.register_proto_function)
    strip_name_scope = staticmethod(collection_def.strip_name_scope)
    prepend_name_scope = staticmethod(collection_def.prepend_name_scope)

    @staticmethod
    def get_stats_for_node_def(graph: Any, node: Any, statistic_type: str) -> Any:
        """How many floating-point operations ("flops") a node takes."""
        from weft.lib.profiler.flops import flops_of

        counted = statistic_type == "flops"
        found = flops_of(graph.get_operation_by_name(node.name)) if counted else 0
        return types.SimpleNamespace(statistic_type=statistic_type, value=found or None)

    @staticmethod
    def inside_function() -> bool:
        """Whether the graph that is being built is that of a function."""
        return bool(tf.get_default_graph().building_function)

    @staticmethod
    def uid() -> int:
        """A number that is given once."""
        return next(ops._uids)

    @staticmethod
    def set_shapes_for_outputs(op: Any) -> None:
        """Shapes are known when an operation is made: there is nothing left to do."""


class summary_op_util:
    @staticmethod
    def skip_summary() -> bool:
        """Whether this is a copy of a model that is to write no summaries."""
        return False


class model_fn:
    LOSS_METRIC_KEY = "loss"
    AVERAGE_LOSS_METRIC_KEY = "average_loss"


class smart:
    """Conditions that are decided while the graph is built when their value is known by then."""

    constant_value, smart_cond = staticmethod(known_value), staticmethod(choose)

    @staticmethod
    def normalize_tuple(value: int | Iterable[int], n: int, name: str) -> tuple[int, ...]:
        """`value` as a tuple of `n` integers; a lone integer is repeated."""
        many = (value,) * n if isinstance(value, int) else tuple(value)
        if len(many) != n or not all(isinstance(each, int) for each in many):
            raise ValueError(f"`{name}` must be an integer or {n} of them. Received: {value!r}")
        return many


class test:
    mock = unittest.mock


class all_util:
    @staticmethod
    def remove_undocumented(module_name: str, *args: Any, **kwargs: Any) -> None:
        """Trims a module's names in TensorFlow's own build; nothing depends on it."""

    @staticmethod
    def make_all(module_name: str, doc_string_modules: Any = None) -> list[str]:
        """The names that a module has and that lines `@@name` of docstrings list."""
        module = sys.modules[module_name]
        listed = [each.__doc__ or "" for each in doc_string_modules or [module]]
        names = re.findall(r"^@@\s*(\w+)$", "\n".join(listed), re.MULTILINE)
        return [name for name in dict.fromkeys(names) if hasattr(module, name)]


class nest:
    """Which kind of structure a value is."""

    @staticmethod
    def _is_namedtuple(instance: Any, strict: bool = False) -> bool:
        fields = getattr(instance, "_fields", None)
        if not isinstance(instance, tuple) or (strict and type(instance).__base__ is not tuple):
            return False
        return fields is not None and all(isinstance(each, str) for each in fields)

    @staticmethod
    def _is_mapping(seq: Any) -> bool:
        return isinstance(seq, Mapping)

    @staticmethod
    def _sequence_like(instance: Any, args: Any) -> Any:
        """`args` in a structure like `instance`."""
        return levels.like(instance, list(args))


class deprecation:
    """Decorators that announce deprecations: here the function is left as it is."""

    @staticmethod
    def _as_it_is(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
        return lambda function: function

    deprecated = deprecated_args = deprecated_arg_values = deprecated_endpoints = _as_it_is
    silence = staticmethod(contextlib.nullcontext)

    @staticmethod
    def deprecated_alias(
        deprecated_name: str, name: str, func_or_class: Any, warn_once: bool = True
    ) -> Any:
        return func_or_class

    @staticmethod
    def deprecated_argument_lookup(
        new_name: str, new_value: Any, old_name: str, old_value: Any
    ) -> Any:
        """The value of an argument that has two names, of which one may be given."""
        if old_value is None:
            return new_value
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value


class tf_export:
    """Export declarations only matter to TensorFlow's build."""

    tf_export = keras_export = estimator_export = deprecation._as_it_is


class tf_contextlib:
    contextmanager = staticmethod(contextlib.contextmanager)


class tf_decorator:
    @staticmethod
    def make_decorator(
        target: Callable[..., Any], decorator_func: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Callable[..., Any]:
        return functools.wraps(target)(decorator_func)

    @staticmethod
    def unwrap(maybe_decorated: Callable[..., Any]) -> tuple[list[Any], Callable[..., Any]]:
        return [], inspect.unwrap(maybe_decorated)


class tf_inspect:
    """`inspect`, looking through decorators."""

    ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")
    FullArgSpec = inspect.FullArgSpec
    _inspect = inspect

    @staticmethod
    def getargspec(obj: Callable[..., Any]) -> tuple[Any, ...]:
        """The four fields that Python 2's function of this name gave."""
        return tf_inspect.ArgSpec(*tf_inspect.getfullargspec(obj)[:4])

    @staticmethod
    def getfullargspec(obj: Callable[..., Any]) -> inspect.FullArgSpec:
        """The signature as it was written, also of what a decorator wrapped."""
        if not isinstance(obj, type):
            obj = inspect.unwrap(obj, stop=lambda each: hasattr(each, "__signature__"))
        return inspect.getfullargspec(obj)._replace(annotations={})

    @staticmethod
    def getcallargs(func: Callable[..., Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
        return inspect.getcallargs(func, *args, **kwargs)


class function_utils:
    @staticmethod
    def fn_args(fn: Callable[..., Any]) -> tuple[str, ...]:
        """The names of the arguments a caller can pass: without a bound `self`."""
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        given = fn.keywords if isinstance(fn, functools.partial) else {}
        parameters = inspect.signature(fn).parameters
        return tuple(
            name for name, each in parameters.items() if each.kind in kinds and name not in given
        )

    @staticmethod
    def has_kwargs(fn: Callable[..., Any]) -> bool:
        """Whether a function takes any keyword."""
        if not callable(fn):
            raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
        parameters = inspect.signature(fn).parameters.values()
        return any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters)

    @staticmethod
    def get_func_name(func: Callable[..., Any]) -> str:
        """How a function calls itself; a method with its class, an object by its type."""
        if not callable(func):
            raise ValueError("Argument must be callable")
        if inspect.ismethod(func):
            return f"{type(func.__self__).__name__}.{func.__name__}"
        return func.__name__ if inspect.isfunction(func) else str(type(func))

    @staticmethod
    def get_func_code(func: Callable[..., Any]) -> Any:
        """The code of a function or of an object's call; None if Python has none of it."""
        if not callable(func):
            raise ValueError("Argument must be callable")
        held: Any = func if inspect.isroutine(func) else type(func).__call__
        return getattr(held, "__code__", None)


class lazy_loader:
    class LazyLoader(types.ModuleType):
        """A module that is imported at its first use."""

        def __init__(self, local_name: str, parent_module_globals: dict[str, Any], name: str):
            super().__init__(name)
            self._bind = functools.partial(parent_module_globals.__setitem__, local_name)

        def __getattr__(self, item: str) -> Any:
            module = importlib.import_module(self.__name__)
            self._bind(module)
            return getattr(module, item)
