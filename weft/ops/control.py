"""Nodes that order, check and report: NoOp, group, tuple, Assert, Print, py_func."""

from __future__ import annotations

import builtins
import itertools
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.core import dtypes, errors, nest
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.constant import to_array
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import (
    Operation,
    Tensor,
    colocate_with,
    control_dependencies,
    device,
    get_default_graph,
    name_scope,
)
from weft.graph.op_def import op, raw
from weft.graph.slices import IndexedSlices
from weft.ops.kernels import c_escaped


@op("NoOp", shape=s.none)
def no_op_(xp: Any) -> None:
    return None


@op("ControlTrigger", shape=s.none, control_flow="trigger")
def control_trigger(xp: Any) -> None:
    return None


def no_op(name: str | None = None) -> Operation:
    """Does nothing: a place to hang control dependencies on."""
    return no_op_(name=name)


def group(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that is done when all of `inputs` are."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    with name_scope(name, "group_deps", list(nest.flatten(inputs))) as scope:
        by_device: dict[str, list[Operation]] = {}
        for item in nest.flatten(inputs, expand_composites=True):
            element = getattr(item, "_as_graph_element", lambda item=item: item)()
            found = element if isinstance(element, Operation) else getattr(element, "op", None)
            if not isinstance(found, Operation):
                raise TypeError(
                    f"Expected tf.group() expected Tensor objects not None, Operation or Variable;"
                    f" got {item!r} of type {type(item)}"
                )
            by_device.setdefault(found.device, []).append(found)
        if len(by_device) <= 1:
            for where, ops in by_device.items():
                with device(where or None), control_dependencies(ops):
                    return no_op(name=scope)
            return no_op(name=scope)
        waits = []
        for where, ops in sorted(by_device.items()):
            with device(where or None), control_dependencies(ops):
                waits.append(no_op())
        with control_dependencies(waits):
            return no_op(name=scope)


def with_dependencies(
    dependencies: Sequence[Any], output_tensor: Any, name: str | None = None
) -> Any:
    """`output_tensor`, available only after `dependencies` have run."""
    with name_scope(name, "control_dependency", [output_tensor]) as scope:
        with colocate_with(output_tensor), control_dependencies(dependencies):
            return _identity(output_tensor, scope)


def _identity(value: Any, name: str | None = None) -> Any:
    if isinstance(value, IndexedSlices):
        return IndexedSlices(
            raw.Identity(value.values, name=name), value.indices, value.dense_shape
        )
    return raw.Identity(convert_to_tensor(value), name=name)


def tuple_(
    tensors: Sequence[Any], name: str | None = None, control_inputs: Any = None
) -> list[Any]:
    """`tensors`, none of which is available before all of them are computed."""
    with name_scope(name, "tuple", tensors):
        tensors = [
            t if t is None or isinstance(t, Operation) or hasattr(t, "op") else convert_to_tensor(t)
            for t in tensors
        ]
        gating = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for item in control_inputs or ():
            if isinstance(item, Tensor):
                item = item.op
            elif not isinstance(item, Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {item}")
            gating.append(item)
        gating = sorted(set(gating), key=lambda o: o._id)
        if not gating:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*gating)
        found: list[Any] = []
        for item in tensors:
            if item is None:
                found.append(None)
            elif isinstance(item, Operation):
                with control_dependencies([gate]):
                    found.append(group(item))
            else:
                found.append(with_dependencies([gate], item))
        return found


# ---- checks and reports -----------------------------------------------------------------------


def summarize(values: np.ndarray, limit: int) -> str:
    """The first `limit` elements as TensorFlow prints them in Assert and Print: [1 2 3...]."""
    flat = np.asarray(values).ravel()
    count = flat.size if limit < 0 else min(limit, flat.size)
    shown = " ".join(_show(v) for v in flat[:count].tolist())
    more = "..." if count < flat.size else ""
    return f"[{shown}{more}]"


def _show(value: Any) -> str:
    if isinstance(value, bytes):
        return c_escaped(value.decode("utf-8", "surrogateescape"))
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        return (
            f"{value:.9g}"
            if value != int(value) or builtins.abs(value) >= 1e16
            else f"{int(value)}"
        )
    return str(value)


@op(
    "Assert",
    inputs="condition: bool, data: list(T)",
    attrs="T: list(type) >= 1, summarize: int = 3",
    shape=s.none,
    stateful=True,
    runs_on="host",
    differentiable=False,
)
def assert_op(xp: Any, condition: Any, data: list[Any], *, summarize: int) -> None:
    if not bool(condition):
        shown = " ".join(_summary(d, summarize) for d in data)
        raise errors.InvalidArgumentError(None, None, f"assertion failed: {shown}")


_summary = summarize


def Assert(
    condition: Any, data: Sequence[Any], summarize: int | None = None, name: str | None = None
) -> Any:
    """Fails the step with `data` when `condition` is false.

    Data that may lie on an accelerator is looked at only then.
    """
    given = {} if summarize is None else {"summarize": summarize}
    with name_scope(name, "Assert", [condition, data]):
        tensors = [convert_to_tensor(each) for each in data]
        if all(tensor.dtype in (dtypes.string, dtypes.int32) for tensor in tensors):
            return assert_op(condition, data, name="Assert", **given)
        condition = convert_to_tensor(condition, name="Condition")

        def fail() -> Any:
            return assert_op(condition, data, name="Assert", **given)

        from weft.ops.cond import cond

        return cond(condition, no_op, fail, name="AssertGuard").op


_print_lock = threading.Lock()


@op(
    "Print",
    inputs="input: T, data: list(U)",
    outputs="output: T",
    attrs='T: type, U: list(type) >= 0, message: string = "", first_n: int = -1,'
    " summarize: int = 3",
    shape=s.unchanged,
    stateful=True,
    runs_on="host",
)
def print_op(
    xp: Any, ctx: Any, input: Any, data: list[Any], *, message: str, first_n: int, summarize: int
) -> Any:
    counter = ctx.resources.get_or_make("", "print", ctx.node.name, lambda: itertools.count())
    if first_n < 0 or next(counter) < first_n:
        with _print_lock:
            sys.stderr.write(message + "".join(_summary(d, summarize) for d in data) + "\n")
            sys.stderr.flush()
    return input


@print_op.gradient
def _(op: Any, *grads: Any) -> list[Any]:
    return [*grads, *([None] * (len(op.inputs) - 1))]


def Print(
    input_: Any,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_`, and prints `data` to standard error whenever it is computed."""
    given = {"message": message, "first_n": first_n, "summarize": summarize}
    return print_op(
        input_, list(data), name=name, **{k: v for k, v in given.items() if v is not None}
    )


@op(
    "PrintV2",
    inputs="input: string",
    attrs='output_stream: string = "stderr", end: string = "\n"',
    shape=s.none,
    stateful=True,
    runs_on="host",
)
def print_v2_op(xp: Any, input: Any, *, output_stream: str, end: str) -> None:
    value = input.item() if isinstance(input, np.ndarray) else input
    text = value.decode("utf-8", "backslashreplace") + end
    if output_stream.startswith("file://"):
        with _print_lock, open(output_stream[len("file://") :], "a") as file:
            file.write(text)
        return
    stream = sys.stdout if output_stream == "stdout" else sys.stderr
    with _print_lock:
        stream.write(text)
        stream.flush()


# ---- Python functions as ops ------------------------------------------------------------------

# Functions live as long as the graph they were put in.
_functions: weakref.WeakValueDictionary[str, _PyFunction] = weakref.WeakValueDictionary()
_tokens = itertools.count()


class _PyFunction:
    """A Python function behind a token that a node can carry."""

    def __init__(self, function: Callable[..., Any], eager: bool) -> None:
        self.function, self.eager = function, eager


def _py_func_kernel(xp: Any, input: list[Any], token: str, types: list[DType]) -> list[np.ndarray]:
    holder = _functions.get(token)
    if holder is None:
        raise errors.InvalidArgumentError(
            None, None, f"ValueError: callback {token} is not found: the graph holds a Python"
            " function of another process",
        )  # fmt: skip
    try:
        result = holder.function(*[_for_python(v) for v in input])
    except Exception as error:
        raise _translated(error) from error
    if result is None:
        result = []
    results = list(result) if isinstance(result, (list, tuple)) and len(types) != 1 else [result]
    if len(types) == 1 and isinstance(result, (list, tuple)) and len(result) == 1:
        results = list(result)
    if not types:
        results = []
    if len(results) != len(types):
        raise errors.InvalidArgumentError(
            None, None, f"{token} returns {len(results)} values, but expects to see {len(types)}"
            " values.",
        )  # fmt: skip
    return [
        _from_python(token, i, r, t) for i, (r, t) in enumerate(zip(results, types, strict=True))
    ]


def _for_python(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype == object:
        return value.item()
    return np.array(value) if isinstance(value, np.ndarray) else value


def _from_python(token: str, i: int, value: Any, wanted: DType) -> np.ndarray:
    array = to_array(value) if wanted is dtypes.string else np.asarray(value)
    if array.dtype.names:
        raise errors.InternalError(None, None, "Unsupported numpy data type")
    if wanted is not dtypes.string and array.dtype == object:
        raise errors.InternalError(None, None, f"Unsupported object type {type(value).__name__}")
    found = dtypes.as_dtype(array.dtype)
    if found != wanted:
        if not isinstance(value, (np.ndarray, np.generic)):
            array, found = np.asarray(value, dtype=wanted.np_storage), wanted
        else:
            raise errors.InvalidArgumentError(
                None, None, f"{i}-th value returned by {token} is {found.name}, but expects"
                f" {wanted.name}",
            )  # fmt: skip
    return np.ascontiguousarray(array).reshape(array.shape)


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


_PY_FUNC = "input: list(Tin)"
_PY_FUNC_ATTRS = "token: string, Tin: list(type) >= 0, Tout: list(type) >= 0"


@op(
    "PyFunc", inputs=_PY_FUNC, outputs="output: list(Tout)", attrs=_PY_FUNC_ATTRS, shape=s.unknown,
    stateful=True, runs_on="host",
)  # fmt: skip
def py_func_op(xp: Any, input: list[Any], *, token: str, Tout: list[DType]) -> Any:
    return _py_func_kernel(xp, input, token, Tout)


@op(
    "PyFuncStateless", inputs=_PY_FUNC, outputs="output: list(Tout)", attrs=_PY_FUNC_ATTRS,
    shape=s.unknown, runs_on="host",
)  # fmt: skip
def py_func_stateless_op(xp: Any, input: list[Any], *, token: str, Tout: list[DType]) -> Any:
    return _py_func_kernel(xp, input, token, Tout)


def py_func(
    func: Callable[..., Any],
    inp: Sequence[Any],
    Tout: Any,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Wraps a Python function of NumPy arrays as an operation."""
    holder = _PyFunction(func, eager=False)
    token = f"pyfunc_{next(_tokens)}"
    _functions[token] = holder
    get_default_graph().__dict__.setdefault("_py_functions", []).append(holder)
    single = not isinstance(Tout, (list, tuple))
    types = [dtypes.as_dtype(t) for t in ([Tout] if single else Tout)]
    kind = py_func_op if stateful else py_func_stateless_op
    result = kind(list(inp), token=token, Tout=types, name=name)
    if not types:
        return result if stateful else []
    return result[0] if single and isinstance(result, list) else result


def numpy_function(func: Any, inp: Any, Tout: Any, name: str | None = None) -> Any:
    """`py_func` of a stateful function."""
    return py_func(func, inp, Tout, stateful=True, name=name)
