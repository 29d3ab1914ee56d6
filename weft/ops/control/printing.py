"""Telling the user what tensors hold: Print, and tf.print with its streams and templates."""

from __future__ import annotations

import datetime
import itertools
import logging
import os
import pprint
import sys
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import dtypes, errors, nest
from weft.graph import shape_fn as s
from weft.graph.graph import Operation, Tensor
from weft.graph.op_def import op, raw
from weft.graph.slices import SparseTensor
from weft.graph.tensor_util import is_tensor
from weft.graph.traits import HOST_STATE
from weft.ops.control.control import summarize as summary_of
from weft.storage.confinement import permitted

_lock = threading.Lock()


@op(
    "Print",
    inputs="input: T, data: list(U)",
    outputs="output: T",
    attrs='T: type, U: list(type) >= 0, message: string = "", first_n: int = -1,'
    " summarize: int = 3",
    shape=s.unchanged,
    traits=HOST_STATE,
)
def print_op(
    xp: Any, ctx: Any, input: Any, data: list[Any], *, message: str, first_n: int, summarize: int
) -> Any:
    counter = ctx.resources.get_or_make("", "print", ctx.node.name, lambda: itertools.count())
    if first_n < 0 or next(counter) < first_n:
        _write(sys.stderr, message + "".join(summary_of(d, summarize) for d in data) + "\n")
    return input


@print_op.gradient
def _(op: Any, *grads: Any) -> list[Any]:
    return [*grads, *([None] * (len(op.inputs) - 1))]


def _write(stream: Any, text: str) -> None:
    with _lock:
        stream.write(text)
        stream.flush()


def Print(
    input_: Any,
    data: Sequence[Any],
    message: str | None = None,
    first_n: int | None = None,
    summarize: int | None = None,
    name: str | None = None,
) -> Tensor:
    """`input_`, and prints `data` to standard error whenever it is computed.

    Args:
        input_: a tensor to hand on.
        data: tensors to print.
        message: what to print before.
        first_n: how often to print; None: always.
        summarize: how many entries of each tensor; None: 3.
        name: of the operation.

    Returns:
        A tensor with the value of `input_`.

    Raises:
        TypeError: `data` is no list.

    Example:
        >>> x = tf.Print(tf.constant(4), [tf.constant(2)], message="half: ")
        >>> int(session.run(x))
        4
    """
    given = {"message": message, "first_n": first_n, "summarize": summarize}
    return print_op(input_, data, name=name, **{k: v for k, v in given.items() if v is not None})


# ---- tf.print -----------------------------------------------------------------------------------

_LEVELS = {"info": "log(info)", "warning": "log(warning)", "warn": "log(warning)",
           "error": "log(error)"}  # fmt: skip
_LEVEL_NUMBERS = {
    logging.INFO: "log(info)", logging.WARNING: "log(warning)", logging.ERROR: "log(error)",
}  # fmt: skip


@op(
    "PrintV2",
    inputs="input: string",
    attrs='output_stream: string = "stderr", end: string = "\n"',
    shape=s.none,
    traits=HOST_STATE,
)
def print_v2_op(xp: Any, input: Any, *, output_stream: str, end: str) -> None:
    value = input.item() if isinstance(input, np.ndarray) else input
    text = value.decode("utf-8", "backslashreplace") + end
    if output_stream.startswith("file://"):
        with open(permitted(output_stream[len("file://") :]), "a") as file:
            _write(file, text)
    elif output_stream in _LEVELS.values():
        now = datetime.datetime.now()
        _write(sys.stderr, f"{now}: {output_stream[4].upper()} {text.rstrip(os.linesep)}\n")
    elif output_stream in ("stdout", "stderr"):
        _write(getattr(sys, output_stream), text)
    else:
        valid = "".join(f'\n-"{s}"' for s in ("stdout", "stderr", *dict.fromkeys(_LEVELS.values())))
        raise errors.InvalidArgumentError(
            None, None, f"Unknown output stream: {output_stream}, Valid streams are:{valid}"
        )


def print_v2(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that prints `inputs`: tensors, structures with tensors, and other objects."""
    stream = _stream_name(kwargs.pop("output_stream", sys.stderr))
    defaults = {"name": None, "summarize": 3, "sep": " ", "end": os.linesep}
    name, summarize, sep, end = (kwargs.pop(key, value) for key, value in defaults.items())
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    text = inputs[0] if inputs else ""
    if len(inputs) != 1 or not _is_text(text):
        template, placeholder, tensors = _template(inputs, sep)
        text = raw.StringFormat(
            tensors, template, placeholder, summarize, name=name and f"{name}_format"
        )
    return print_v2_op(text, output_stream=stream, end=end, name=name)


def _is_text(value: Any) -> bool:
    """Whether `value` is a string already, as what `tf.strings.format` gives."""
    if not is_tensor(value) or isinstance(value, SparseTensor):
        return False
    return value.dtype.base_dtype == dtypes.string and value.shape.ndims == 0


def _stream_name(stream: Any) -> str:
    if isinstance(stream, str) and stream.startswith("file://"):
        return stream
    for known in ("stdout", "stderr"):
        if stream is getattr(sys, known):
            return known
    found = _LEVEL_NUMBERS.get(stream) if isinstance(stream, int) else _level_of(stream)
    if found is None:
        raise ValueError(
            f"Unsupported output stream, logging level, or file.{stream}. Supported streams are"
            " sys.stdout, sys.stderr, tf.logging.info, tf.logging.warning, tf.logging.error. File"
            " needs to be in the form of 'file://<filepath>'."
        )
    return found


def _level_of(function: Any) -> str | None:
    """The level of a logging function: of `tf.logging`, absl or the standard library."""
    if not str(getattr(function, "__module__", "")).endswith("logging"):
        return None
    return _LEVELS.get(getattr(function, "__name__", ""))


def _template(inputs: Sequence[Any], sep: str) -> tuple[str, str, list[Any]]:
    """The text of `inputs` with a placeholder for each tensor; the placeholder; the tensors."""
    plain = nest.map_structure(lambda x: "" if is_tensor(x) else x, inputs)
    placeholder = _absent_from(" ".join(pprint.pformat(x) for x in plain))
    tensors: list[Any] = []
    template = sep.join(_shown(each, placeholder, tensors) for each in inputs)
    return template.replace(f"'{placeholder}'", placeholder), placeholder, tensors


def _absent_from(text: str) -> str:
    """A placeholder that `text` does not contain."""
    placeholder = "{}"
    for i in itertools.count():
        if placeholder not in text:
            return placeholder
        placeholder = f"{{}}{i}"
    raise AssertionError


def _shown(value: Any, placeholder: str, tensors: list[Any]) -> str:
    """`value` as text; its tensors are added to `tensors`."""

    def leaf(x: Any) -> Any:
        if not is_tensor(x):
            return x
        if not isinstance(x, SparseTensor):
            tensors.append(x)
            return placeholder
        parts = {"indices": x.indices, "values": x.values, "shape": x.dense_shape}
        tensors.extend(parts.values())
        return f"SparseTensor({', '.join(f'{part}={placeholder}' for part in parts)})"

    text = isinstance(value, str)
    return value if text else pprint.pformat(nest.map_structure(leaf, value))
