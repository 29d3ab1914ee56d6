"""Restoring variables one after another, each in the place of its old value.

`RestoreV2` gives all tensors before the first is assigned, so that a restore would need the memory
of two models. This op does both (`passes/optimize/restores.py` puts it in their place). It
reads every value twice: nothing is assigned before all checksums have been compared.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.dtypes import DType
from weft.graph import shape_fn as s
from weft.graph.kernel_call import bind
from weft.graph.op_def import op
from weft.graph.traits import HOST_STATE, UNINITIALIZED
from weft.ops.files.checkpoint import Reader, Wanted, opened
from weft.storage.bundle_reader import BundleReader

Array = Any
Cell = Any
# After so many bytes of old values, the memory they were in goes back to the system.
_GIVE_BACK = 1 << 27


@op(
    "_RestoreVariables",
    inputs="prefix: string, tensor_names: string, shape_and_slices: string, "
    "variables: ref(list(dtypes))",
    attrs="dtypes: list(type) >= 1",
    shape=s.none,
    traits=HOST_STATE | UNINITIALIZED,
)
def restore_variables(
    xp: Any,
    ctx: Any,
    prefix: Array,
    tensor_names: Array,
    shape_and_slices: Array,
    variables: list[Cell],
    *,
    dtypes: list[DType],
) -> None:
    with opened(prefix, tensor_names, shape_and_slices, dtypes) as (reader, wanted):
        values = _one_by_one(reader, wanted)
        with ctx.resources.lock:
            freed = 0
            for i, value in values:
                freed += _bytes_on_device(variables[i])
                _assign(ctx.node.attrs["assigns"][i], variables[i], value)
                del value
                if freed > _GIVE_BACK:
                    freed = _give_back()


def _one_by_one(reader: Reader, wanted: list[Wanted]) -> Iterator[tuple[int, np.ndarray]]:
    """(position, value) of all tensors, none of them before all were found to be whole."""
    if isinstance(reader, BundleReader) and reader.is_local:
        for _, name, slice_ in wanted:
            reader.verify(name, slice_)
        return ((i, reader.read(name, slice_)) for i, name, slice_ in wanted)
    return iter([(i, reader.read(name, slice_)) for i, name, slice_ in wanted])


def _bytes_on_device(cell: Cell) -> int:
    """The size of a value that a program made: its memory is not where NumPy looks for some."""
    value = cell.value
    return 0 if value is None or isinstance(value, np.ndarray) else value.nbytes


def _give_back() -> int:
    """Asks the C library, where it can be asked, to let go of memory that is not in use."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    return 0


def _assign(node: Any, cell: Cell, value: np.ndarray) -> None:
    """As the node that was to assign the value would, down to its errors."""
    try:
        bind(node.definition, node.attrs)(np, [cell, value])
    except errors.OpError as error:
        message = f"{error.message}\n\t {errors.node_text(node.op, node.name)}"
        kind: Any = type(error)
        raise kind(node.op.node_def, node.op, message) from None
