"""Python functions as operations: of arrays (`py_func`), or of tensors that know their values."""

from __future__ import annotations

import itertools
import traceback
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from weft.core import dtypes, errors, nest
from weft.core.dtypes import DType
from weft.core.errors import raise_from
from weft.graph import shape_fn as s
from weft.graph.constant import to_array
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Graph, Tensor, get_default_graph
from weft.graph.op_def import OpDef, op
from weft.graph.traits import HOST, HOST_STATE, NO_GRADIENT, PYTHON
from weft.ops.functions.py_tokens import own_token
from weft.ops.kit.eager import EagerGraph, constants, executing_eagerly
from weft.ops.state.resource_variable import ResourceVariable

_KEPT = 256

# Functions live as long as the graph they were put in.
_functions: weakref.WeakValueDictionary[str, PyFunction] = weakref.WeakValueDictionary()
_tokens = itertools.count()


class Call(NamedTuple):
    """The record of a call of a function, which its gradient needs."""

    graph: Graph
    inputs: list[Tensor]
    outputs: list[Tensor]


class PyFunction:
    """A Python function behind a token that a node can carry.

    If `recorded`, calls are kept for the gradient.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.rng: dict[str, np.ndarray] = {}
        self.recorded = False
        self.calls: deque[Call] = deque(maxlen=_KEPT)

    def call(self, ctx: Any, inputs: Sequence[Any], types: Sequence[DType]) -> Call:
        """Calls the function with tensors in a graph that computes at once."""
        graph = EagerGraph(ctx, self.rng)
        with graph.as_default():
            tensors = constants(inputs, ctx.node.attrs["Tin"])
            found = self.function(*tensors)
            results = [] if found is None else found
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            outputs = [_converted(r, t) for r, t in zip(results, types, strict=False)]
        return Call(graph, tensors, outputs)

    def recorded_call(self, inputs: Sequence[Any]) -> Call | None:
        """The kept call that had these inputs, which is kept no longer."""
        for call in reversed(self.calls):
            if all(map(_same, call.inputs, inputs)):
                self.calls.remove(call)
                return call
        return None


def _same(tensor: Any, value: Any) -> bool:
    kept, value = np.asarray(tensor._array()), np.asarray(value)
    if kept.shape != value.shape:
        return False
    if kept.dtype == object:
        return bool((kept == value).all())
    return kept.tobytes() == value.tobytes()


def _converted(value: Any, dtype: DType) -> Tensor:
    if isinstance(value, ResourceVariable):
        raise RuntimeError(
            "Attempting to return a variable from an eagerly executed py_func. Only numeric data"
            " structures like Tensors or NumPy arrays should be returned; to return the value of a"
            " variable, make sure to obtain the Tensor backing it by calling `.read_value()` on the"
            f" variable in question: {value}"
        )
    return convert_to_tensor(value, dtype=dtype)


def function_of(token: str) -> PyFunction:
    """The function behind `token`."""
    holder = _functions.get(token)  # as this process gave it: nothing to take apart
    if holder is None and (own := own_token(token)) is not None:
        holder = _functions.get(own)
    if holder is None:
        raise errors.InvalidArgumentError(
            None, None, f"ValueError: callback {_name(token)} is not found: the graph holds a"
            " Python function of another process",
        )  # fmt: skip
    return holder


def _name(token: str) -> str:
    return token.partition("@")[0]


# ---- functions of arrays ------------------------------------------------------------------------


def _call_with_arrays(input: list[Any], token: str, types: list[DType]) -> list[np.ndarray]:
    holder = function_of(token)
    try:
        result = holder.function(*[_for_python(v) for v in input])
    except Exception as error:
        raise_from(_translated(error), error)
    results = _result_list(result, len(types))
    _check_count(token, len(results), len(types))
    return [_from_python(token, i, results[i], wanted) for i, wanted in enumerate(types)]


def _result_list(result: Any, wanted: int) -> list[Any]:
    """The results of a function of which so many are wanted; of one, a list may be its value."""
    if not wanted:
        return []
    if isinstance(result, (list, tuple)) and (wanted > 1 or len(result) == 1):
        return list(result)
    return [] if result is None else [result]


def _check_count(token: str, found: int, wanted: int) -> None:
    if found != wanted:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"{_name(token)} returns {found} values, but expects to see {wanted} values.",
        )


def _for_python(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return value.item() if value.dtype.hasobject and value.ndim == 0 else value.copy()


def _from_python(token: str, i: int, value: Any, wanted: DType) -> np.ndarray:
    array = to_array(value) if wanted is dtypes.string else np.asarray(value)
    is_itself = wanted.is_numpy_compatible and not wanted.is_quantized
    if array.dtype is not wanted.np_storage or not is_itself:
        array = _fitted(token, i, value, array, wanted)
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


def _fitted(token: str, i: int, value: Any, array: np.ndarray, wanted: DType) -> np.ndarray:
    """The array of a result that may not be of the wanted type: Python's own numbers fit."""
    if array.dtype.names:
        raise errors.InternalError(None, None, "Unsupported numpy data type")
    if wanted is not dtypes.string and array.dtype == object:
        raise errors.InternalError(None, None, f"Unsupported object type {type(value).__name__}")
    found = dtypes.as_dtype(array.dtype)
    if found == wanted:
        return array
    if not isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value, dtype=wanted.np_storage)
    raise errors.InvalidArgumentError(
        None, None, f"{i}-th value returned by {_name(token)} is {found.name}, but expects"
        f" {wanted.name}",
    )  # fmt: skip


def _translated(error: Exception) -> Exception:
    if isinstance(error, errors.OpError):
        return error
    table = {
        TypeError: errors.InvalidArgumentError,
        ValueError: errors.InvalidArgumentError,
        StopIteration: errors.OutOfRangeError,
        MemoryError: errors.ResourceExhaustedError,
        NotImplementedError: errors.UnimplementedError,
    }
    kind = next((k for base, k in table.items() if isinstance(error, base)), errors.UnknownError)
    where = "".join(traceback.format_exception(error))
    return kind(None, None, f"{type(error).__name__}: {error}\n{where}")


_INPUTS, _OUTPUTS = "input: list(Tin)", "output: list(Tout)"
_TYPES = "Tin: list(type) >= 0, Tout: list(type) >= 0"


@op(
    "PyFunc", inputs=_INPUTS, outputs=_OUTPUTS, attrs=f"token: string, {_TYPES}", shape=s.unknown,
    traits=HOST_STATE | PYTHON | NO_GRADIENT,
)  # fmt: skip
def py_func_op(xp: Any, input: list[Any], *, token: str, Tout: list[DType]) -> Any:
    return _call_with_arrays(input, token, Tout)


@op(
    "PyFuncStateless", inputs=_INPUTS, outputs=_OUTPUTS, attrs=f"token: string, {_TYPES}",
    shape=s.unknown, traits=HOST | PYTHON | NO_GRADIENT,
)  # fmt: skip
def py_func_stateless_op(xp: Any, input: list[Any], *, token: str, Tout: list[DType]) -> Any:
    return _call_with_arrays(input, token, Tout)


# ---- functions of tensors -----------------------------------------------------------------------


@op(
    "EagerPyFunc", inputs=_INPUTS, outputs=_OUTPUTS,
    attrs=f"token: string, is_async: bool = false, {_TYPES}", shape=s.unknown,
    traits=HOST_STATE | PYTHON,
)  # fmt: skip
def eager_py_func_op(xp: Any, ctx: Any, input: list[Any], *, token: str, Tout: list[DType]) -> Any:
    holder = function_of(token)
    try:
        call = holder.call(ctx, input, Tout)
    except Exception as error:
        raise_from(_translated(error), error)
    _check_count(token, len(call.outputs), len(Tout))
    if holder.recorded:
        holder.calls.append(call)
    return [np.asarray(tensor._array()) for tensor in call.outputs]  # type: ignore[attr-defined]


def add_function(func: Callable[..., Any]) -> str:
    """A token for `func`, which lives as long as the graph (of a function's: the outermost)."""
    if not callable(func):
        raise ValueError(f"Expected func to be callable, got func of type {type(func)}")
    holder = PyFunction(func)
    token = f"pyfunc_{next(_tokens)}"
    _functions[token] = holder
    graph: Any = get_default_graph()
    while getattr(graph, "outer_graph", None) is not None:
        graph = graph.outer_graph
    graph.__dict__.setdefault("_py_functions", []).append(holder)
    return token


def _added(kind: OpDef, func: Any, inp: Sequence[Any], Tout: Any, name: str | None) -> Any:
    single = not isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t) for t in ([Tout] if single else Tout)]
    result = kind(inp, token=add_function(func), Tout=types, name=name)
    return result[0] if single and isinstance(result, list) else result


def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: Any,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Wraps a Python function of NumPy arrays as an operation.

    Args:
        func: a function of arrays that gives an array, or a list of them.
        inp: tensors: its arguments.
        Tout: the type of its result, or the list of types.
        stateful: whether it may give something else for the same arguments.
        name: of the operation.

    Returns:
        A tensor of unknown shape, or a list of them.

    Raises:
        tf.errors.InvalidArgumentError: from the step: `func` gave something else.
        tf.errors.UnknownError: `func` raised an exception that has no code of its own.

    Example:
        >>> session.run(tf.py_func(np.sort, [tf.constant([3, 1, 2])], tf.int32))
        array([1, 2, 3], dtype=int32)
    """
    if executing_eagerly():
        return _called_now(func, inp)
    result = _added(py_func_op if stateful else py_func_stateless_op, func, inp, Tout, name)
    return [] if not stateful and isinstance(Tout, (list, tuple)) and not Tout else result


def _called_now(func: Callable[..., Any], inp: Sequence[Any]) -> Any:
    """In eager execution there is nothing to wrap: the function is called.

    What it returns is of whatever types it is, and one result is not in a list.
    """
    found = func(*[_for_python(np.asarray(convert_to_tensor(each)._array())) for each in inp])  # type: ignore[attr-defined]
    results = [None if r is None else convert_to_tensor(r) for r in nest.flatten(found)]
    return results[0] if len(results) == 1 else results


def numpy_function(func: Any, inp: Any, Tout: Any, name: str | None = None) -> Any:
    """`py_func` of a stateful function."""
    return py_func(func, inp, Tout, stateful=True, name=name)


def py_function(func: Any, inp: Sequence[Any], Tout: Any, name: str | None = None) -> Any:
    """Wraps a Python function of tensors as an operation that can be differentiated.

    In it, tensors have values (`x.numpy()`, `if x > 0:`), and operations compute at once.
    """
    if executing_eagerly():
        single = not isinstance(Tout, (list, tuple))
        found = func(*[convert_to_tensor(each) for each in inp])
        if single:
            found = found[0] if isinstance(found, (list, tuple)) else found
            return _converted(found, dtypes.as_dtype(Tout))
        found = [] if found is None else found
        return [_converted(r, dtypes.as_dtype(t)) for r, t in zip(found, Tout, strict=True)]
    return _added(eager_py_func_op, func, inp, Tout, name)
