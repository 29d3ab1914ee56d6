"""Nodes about the process itself: its end, constants that stay on the host or in a file."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

import numpy as np

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.errors import InternalError, UnimplementedError
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims
from weft.graph.traits import HOST, UNINITIALIZED
from weft.ops.control.debug_nodes import passed_on
from weft.ops.kit.shared import invalid
from weft.storage.filesystem import translated

_FACT = b"0! == 1"


@op(
    "Abort", attrs='error_msg: string = "", exit_without_error: bool = false', shape=s.none,
    traits=HOST,
)  # fmt: skip
def abort_(xp: Any, *, error_msg: str, exit_without_error: bool) -> None:
    """Ends the process at once."""
    if exit_without_error:
        _say(f"Exiting the process: {error_msg}")
        os._exit(0)
    _say(f"Abort_op intentional failure; {error_msg}")
    os.abort()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


@op("Fact", outputs="fact: string", shape=s.scalar, traits=HOST)
def fact_(xp: Any) -> Any:
    return np.array(_FACT, object)


@op(
    "HostConst", outputs="output: dtype", attrs="value: tensor, dtype: type",
    shape=lambda c: np.shape(c.attr("value")), traits=HOST,
)  # fmt: skip
def host_const_(xp: Any, *, value: Any) -> Any:
    return value


# ---- constants in files --------------------------------------------------------------------------


@op(
    "ImmutableConst", outputs="tensor: dtype",
    attrs="dtype: type, shape: shape, memory_region_name: string", shape=s.from_attr("shape"),
    traits=HOST,
)  # fmt: skip
def immutable_const_(xp: Any, *, dtype: DType, shape: Dims, memory_region_name: str) -> Any:
    """A tensor that is the content of a file, which is read as it is used."""
    if dtype is dtypes.string:
        raise UnimplementedError(
            None, None, "Sorry, DT_STRING is not currently supported for ImmutableConstOp."
        )
    if dtype in (dtypes.resource, dtypes.variant):
        raise invalid("Resource and variant dtypes are invalid for this op.")
    count = s.size(shape)
    if count is None:
        raise invalid(f"The shape of a constant in a file must be known: {s.show(shape)}")
    with translated(memory_region_name):
        if not os.path.getsize(memory_region_name):
            raise OSError(errno.EINVAL, "Invalid argument")
        mapped = np.memmap(memory_region_name, np.uint8, "r")
    size = count * np.dtype(dtype.np_storage).itemsize
    if mapped.size < size:
        raise InternalError(
            None, None,
            f"Readonly memory region has wrong length ({mapped.size}) when allocating {size}",
        )  # fmt: skip
    return np.asarray(mapped[:size]).view(dtype.np_storage).reshape(shape)


# ---- what debuggers put behind references --------------------------------------------------------


@op("DebugGradientRefIdentity", inputs="input: ref(T)", outputs="output: ref(T)", attrs="T: type",
    shape=s.unchanged, traits=UNINITIALIZED)  # fmt: skip
def debug_gradient_ref_identity_(xp: Any, input: Any) -> Any:
    return input


debug_gradient_ref_identity_.gradient(passed_on)
