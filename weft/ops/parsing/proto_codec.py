"""Protocol messages taken apart into tensors, and made of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.core.errors import DataLossError
from weft.core.step_limits import long
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.shared import invalid
from weft.ops.parsing.proto_fields import (
    Field,
    fields_of,
    message_descriptor,
    read_fields,
    write_field,
)
from weft.ops.queues.queue_values import show_types

Array = np.ndarray


def _decoded_shape(c: ShapeContext) -> list[Dims]:
    dims, count = c.dims(0), len(c.attr("output_types"))
    return [s.concat(dims, (count,)), *[s.concat(dims, (None,))] * count]


def _check_types(fields: list[Field], types: list[DType]) -> None:
    for field, dtype in zip(fields, types, strict=True):
        if dtype not in field.kind.types:
            kind = f"DT_{show_types([dtype]).upper()}"
            raise invalid(f"Unexpected output type for {field.name}: {field.type} to {kind}")


def _binary(data: bytes, source: str, message_type: str, is_text: bool) -> bytes:
    """A message written anew by the library: of text, or of what is not to be trusted."""
    from google.protobuf import message_factory, text_format
    from google.protobuf.message import DecodeError

    from weft.protos.text import merge_text

    made = message_factory.GetMessageClass(message_descriptor(source, message_type))()
    try:
        merge_text(data.decode(), made) if is_text else made.ParseFromString(data)
    except (text_format.ParseError, DecodeError, UnicodeDecodeError):
        form = "text" if is_text else "binary"
        raise DataLossError(None, None, f"Unable to parse {form} protobuf") from None
    written: bytes = made.SerializePartialToString()
    return written


@op(
    "DecodeProtoV2", inputs="bytes: string", outputs="sizes: int32, values: list(output_types)",
    attrs="message_type: string, field_names: list(string), output_types: list(type) >= 0,"
    ' descriptor_source: string = "local://", message_format: string = "binary",'
    " sanitize: bool = false",
    shape=_decoded_shape, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def decode_proto_v2_(
    xp: Any, bytes: Any, *, message_type: str, field_names: list[str], output_types: list[DType],
    descriptor_source: str, message_format: str, sanitize: bool,
) -> list[Array]:  # fmt: skip
    """How often each field is there, and its values, with defaults where there are fewer."""
    if len(field_names) != len(output_types):
        raise invalid("field_names and output_types attributes must have the same length")
    if message_format not in ("binary", "text"):
        raise invalid("format must be one of binary or text")
    fields = fields_of(descriptor_source, message_type, field_names)
    _check_types(fields, output_types)
    messages, is_text = np.asarray(bytes, object), message_format == "text"
    if not messages.size:
        raise invalid("Bufs argument must contain at least one value")
    contents = messages.ravel().tolist()
    if sanitize or is_text:
        contents = [_binary(m, descriptor_source, message_type, is_text) for m in long(contents)]
    rows = [read_fields(content, fields) for content in long(contents)]
    return _tensors(rows, fields, output_types, messages.shape)


def _tensors(
    rows: list[list[list[Any]]], fields: list[Field], types: list[DType], dims: tuple[int, ...]
) -> list[Array]:
    sizes = np.array([[len(values) for values in row] for row in rows], np.int32)
    found = [sizes.reshape(*dims, len(fields))]
    for i, (field, dtype) in enumerate(zip(fields, types, strict=True)):
        most = max(1, int(sizes[:, i].max()))
        out = np.full((len(rows), most), field.default, dtype.np_storage)
        for row, values in zip(out, rows, strict=True):
            for j, value in enumerate(values[i]):
                row[j] = value
        found.append(out.reshape(*dims, most))
    return found


# ---- encoding ------------------------------------------------------------------------------------


def _encoded_shape(c: ShapeContext) -> Dims:
    found: Dims = None
    for i in range(1, c.num_inputs):
        dims = s.with_rank_at_least(c.dims(i), 2)
        found = found if dims is None else s.merge(dims[:-1], found)
    return found


@op(
    "EncodeProto", inputs="sizes: int32, values: list(Tinput_types)", outputs="bytes: string",
    attrs="field_names: list(string), message_type: string,"
    ' descriptor_source: string = "local://", Tinput_types: list(type) >= 1',
    shape=_encoded_shape, traits=HOST | NO_GRADIENT,
)  # fmt: skip
def encode_proto_(
    xp: Any, sizes: Array, values: list[Array], *, field_names: list[str], message_type: str,
    descriptor_source: str, Tinput_types: list[DType],
) -> Any:  # fmt: skip
    fields = fields_of(descriptor_source, message_type, field_names)
    if len(fields) != len(values):
        raise invalid("Length of inputs list must match field_names")
    dims = _checked_values(fields, field_names, values, Tinput_types)
    if sizes.shape != (*dims, len(fields)):
        raise invalid(
            f"sizes should be batch_size + [len(field_names)].  Saw: {s.show(sizes.shape)} but"
            f" expected: {s.show((*dims, len(fields)))}"
        )
    total = math.prod(dims)
    counts = np.maximum(sizes.reshape(total, len(fields)), 0)
    rows = [value.reshape(total, value.shape[-1]) for value in values]
    _check_counts(counts, rows)
    in_order = sorted(range(len(fields)), key=lambda i: fields[i].number)
    out = np.empty(len(counts), object)
    for m, count in enumerate(counts.tolist()):
        parts = [write_field(fields[i], list(rows[i][m, : count[i]])) if count[i] else b""
                 for i in in_order]  # fmt: skip
        out[m] = b"".join(parts)
    return out.reshape(dims)


def _checked_values(
    fields: list[Field], names: list[str], values: list[Array], types: list[DType]
) -> tuple[int, ...]:
    """The shape that all have up to their last axis."""
    for field, name, value, dtype in zip(fields, names, values, types, strict=True):
        if dtype not in field.kind.types:
            raise invalid(
                f"Incompatible type for field {name}.  Saw dtype: {show_types([dtype])} but field"
                f" type is: {field.type}"
            )
        if value.ndim < 2:
            raise invalid(
                f"Invalid shape for field {name}.  Saw shape {s.show(value.shape)} but it should be"
                " at least a matrix."
            )
        if value.shape[:-1] != values[0].shape[:-1]:
            raise invalid("Values must match up to the last dimension")
    return values[0].shape[:-1]


def _check_counts(counts: Array, rows: list[Array]) -> None:
    for i, row in enumerate(rows):
        for m in np.flatnonzero(counts[:, i] > row.shape[1]):
            raise invalid(
                f"Size to write must not be larger than value tensor; but saw: {counts[m, i]} >"
                f" {row.shape[1]} at message {m} field {i}"
            )


# ---- public names --------------------------------------------------------------------------------


def decode_proto(
    bytes: Any, message_type: str, field_names: list[str], output_types: list[Any],
    descriptor_source: Any = "local://", message_format: str = "binary", sanitize: bool = False,
    name: str | None = None,
) -> Any:  # fmt: skip
    """(sizes, values): how often each field is there in each message, and what it holds."""
    return decode_proto_v2_(
        bytes, message_type=message_type, field_names=field_names, output_types=output_types,
        descriptor_source=descriptor_source, message_format=message_format, sanitize=sanitize,
        name=name,
    )  # fmt: skip


def encode_proto(
    sizes: Any, values: list[Any], field_names: list[str], message_type: str,
    descriptor_source: Any = "local://", name: str | None = None,
) -> Any:  # fmt: skip
    """Messages whose fields hold the first `sizes` of each row of `values`."""
    return encode_proto_(
        sizes, values, field_names=field_names, message_type=message_type,
        descriptor_source=descriptor_source, name=name,
    )  # fmt: skip
