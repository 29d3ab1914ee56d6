"""einsum: the op of that name, and the function, which is composed of matrix products."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, name_scope
from weft.graph.op_def import op, raw
from weft.graph.traits import costs
from weft.ops.array.array import expand_dims, reshape, shape, transpose
from weft.ops.kit.declare import conj
from weft.ops.kit.shared import invalid
from weft.ops.math.matmul import matmul
from weft.ops.math.reduce import trace, wide

Array = Any


# ---- the op -----------------------------------------------------------------------------------


def _split_equation(equation: str, count: int) -> tuple[list[str], str]:
    """The labels of each input and of the output of an equation that has an arrow."""
    left, arrow, output = equation.replace(" ", "").partition("->")
    inputs = left.split(",")
    if not arrow or len(inputs) != count:
        raise ValueError(f"Expected {count} operands and an output in equation {equation!r}")
    return inputs, output


def _spelled(labels: str, dims: tuple[int | None, ...]) -> tuple[str, str, tuple[Any, ...]]:
    """Labels left and right of an ellipsis, and the dimensions it stands for."""
    left, dots, right = labels.partition("...")
    covered = len(dims) - len(left) - len(right)
    if covered < 0 or (covered and not dots):
        raise ValueError(f"Expected {len(left) + len(right)} dimensions for {labels!r}")
    return left, right, dims[len(left) : len(left) + covered]


def _einsum_shape(c: s.ShapeContext) -> s.Dims:
    inputs, output = _split_equation(c.attr("equation"), c.num_inputs)
    sizes: dict[str, int | None] = {}
    batch: s.Dims = ()
    for i, labels in enumerate(inputs):
        dims = c.dims(i)
        if dims is None:
            batch = None if "..." in labels else batch
            for axis in labels.replace("...", ""):
                sizes.setdefault(axis, None)
            continue
        left, right, covered = _spelled(labels, dims)
        batch = s.broadcast_dims(batch, covered)
        ends = dims[: len(left)] + dims[len(dims) - len(right) :]
        for axis, size in zip(left + right, ends, strict=True):
            sizes[axis] = s.merge_dim(sizes.get(axis), size)
    left, dots, right = output.partition("...")
    middle: s.Dims = batch if dots else ()
    if middle is None:
        return None
    return (*(sizes[a] for a in left), *middle, *(sizes[a] for a in right))


def _check_sizes(labels: list[str], shapes: list[tuple[int, ...]]) -> None:
    """A label is of one size wherever it stands: NumPy would let a size of 1 be any."""
    sizes: dict[str, int] = {}
    for i, (part, dims) in enumerate(zip(labels, shapes, strict=True)):
        left, dots, right = part.partition("...")
        named = left + right
        if len(dims) < len(named) or (len(dims) > len(named) and not dots):
            wanted = f"at least {len(named)}" if dots else str(len(named))
            raise invalid(f"Expected input {i} to have rank {wanted} but got: {len(dims)}")
        places = [*range(len(left)), *range(len(dims) - len(right), len(dims))]
        for label, axis in zip(named, places, strict=True):
            size = sizes.setdefault(label, dims[axis])
            if size != dims[axis]:
                raise invalid(
                    f"Expected dimension {size} at axis {axis} of the input shaped"
                    f" {s.show(dims)} but got dimension {dims[axis]}"
                )


def _flops(dims: Sequence[Any], attrs: dict[str, Any]) -> float:
    labels, _ = _split_equation(attrs["equation"], len(dims))
    sizes: dict[str, int] = {}
    for part, own in zip(labels, dims, strict=True):
        left, right, covered = _spelled(part, own)
        sizes.update(zip(left, own, strict=False))
        sizes.update(zip(right, own[len(own) - len(right) :], strict=True))
        sizes["..."] = max(sizes.get("...", 1), math.prod(covered))
    return 2.0 * math.prod(sizes.values())


@op(
    "Einsum",
    inputs="inputs: N * T",
    outputs="output: T",
    attrs="equation: string, N: int >= 1, T: type",
    shape=_einsum_shape,
    traits=costs(_flops),
)
def einsum_op(xp: Any, inputs: list[Array], *, equation: str) -> Array:
    labels, output = _split_equation(equation, len(inputs))
    _check_sizes(labels, [x.shape for x in inputs])
    operands = [wide(x) for x in inputs]
    unused = [c for c in string.ascii_letters if c not in equation]
    # A label that the output repeats spans a diagonal: each repetition is a unit matrix.
    final = ""
    for axis in output:
        if axis != "." and axis in final:
            where = next(i for i, part in enumerate(labels) if axis in part)
            position = labels[where].replace("...", "").index(axis)
            size = inputs[where].shape[position]
            operands.append(xp.eye(size, dtype=operands[0].dtype))
            fresh = unused.pop()
            labels.append(axis + fresh)
            axis = fresh
        final += axis
    try:
        result = xp.einsum(f"{','.join(labels)}->{final}", *operands)
    except ValueError as error:
        raise invalid(str(error)) from None
    return result.astype(inputs[0].dtype)


@einsum_op.gradient
def _(op: Any, grad: Any) -> Any:
    labels, output = _split_equation(op.attrs["equation"], len(op.inputs))
    if any("..." in part or len(set(part)) != len(part) for part in (*labels, output)):
        raise LookupError(
            "The gradient of Einsum is defined for equations without ellipses and repeated labels."
            f" Received: {op.attrs['equation']!r}"
        )
    return [_einsum_gradient(op, grad, labels, output, i) for i in range(len(op.inputs))]


def _einsum_gradient(op: Any, grad: Tensor, labels: list[str], output: str, which: int) -> Tensor:
    """The product of the output's gradient and the other inputs, summed to the labels of one."""
    wanted, x = labels[which], op.inputs[which]
    others = [i for i in range(len(labels)) if i != which]
    available = output + "".join(labels[i] for i in others)
    found = "".join(axis for axis in wanted if axis in available)
    left = ",".join([output, *(labels[i] for i in others)])
    terms = [grad, *(conj(op.inputs[i]) for i in others)]
    result = raw.Einsum(terms, equation=f"{left}->{found}")
    # What only this input had was summed, so its gradient is the same all along.
    for i, axis in enumerate(wanted):
        if axis not in found:
            result = expand_dims(result, i)
    return result if found == wanted else raw.BroadcastTo(result, shape(x))


# ---- the function --------------------------------------------------------------------------------


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Tensor:
    """Sums products of `inputs` as `equation` says: "ij,jk->ik" is a matrix product.

    Args:
        equation: a letter for each dimension of each input, and of the result.
        *inputs: tensors.
        **kwargs: `name`, of the operation.

    Returns:
        A tensor.

    Raises:
        ValueError: the equation does not fit the inputs.

    Example:
        >>> session.run(tf.einsum("ij,j->i", [[1, 2], [3, 4]], [10, 1]))
        array([12, 34], dtype=int32)
    """
    name = kwargs.pop("name", None)
    if kwargs:
        unknown = ", ".join(sorted(kwargs))
        raise TypeError(f"invalid keyword arguments for this function: {unknown}")
    with name_scope(name, "einsum", list(inputs)):
        tensors = [convert_to_tensor(x) for x in inputs]
        labels, output = _parse_equation(equation, tensors)
        if len(labels) == 1 and "->" not in equation and _is_trace(labels[0]):
            return trace(tensors[0])
        for part in labels:
            if len(set(part)) != len(part):
                raise ValueError(f"Subscript not supported: an axis appears more than once: {part}")
        if any(sum(axis in p for p in labels) > 2 for axis in set("".join(labels)) - set(output)):
            return _outer_einsum(tensors, labels, output)
        result, found = tensors[0], labels[0]
        for tensor, part in zip(tensors[1:], labels[1:], strict=True):
            summed = set(found) & set(part) - set(output)
            result, found = _contract(result, found, tensor, part, summed)
        gone = [i for i, axis in enumerate(found) if axis not in output]
        if gone:
            result = raw.Sum(result, np.array(gone, np.int32))
            found = "".join(axis for axis in found if axis in output)
        if sorted(found) != sorted(output):
            raise ValueError(f"Invalid equation: {equation}")
        return _ordered(result, found, output)


def _is_trace(labels: str) -> bool:
    return labels == labels[::-1] and any(labels.count(axis) == 2 for axis in labels)


def _parse_equation(equation: str, tensors: Sequence[Tensor]) -> tuple[list[str], str]:
    """One label per dimension of each input and of the output, with "..." spelled out."""
    equation = equation.replace(" ", "")
    match = re.fullmatch(r"([a-zA-Z,.]+)(->[a-zA-Z.]*)?", equation)
    if not match:
        raise ValueError(f"Indices have incorrect format: {equation}")
    labels, given = match[1].split(","), match[2]
    if len(labels) != len(tensors):
        raise ValueError(
            f'Got {len(tensors)} arguments for equation "{equation}", expecting {len(labels)}'
        )
    unused = "".join(c for c in string.ascii_letters if c not in match[1])
    dots = ""
    for i, part in enumerate(labels):
        if "..." in part:
            spelled = _ellipsis_labels(part, tensors[i], unused)
            labels[i] = part.replace("...", spelled)
            dots = max(dots, spelled, key=len)
    output = None if given is None else given[2:].replace("...", dots)
    if any("." in part for part in (*labels, output or "")):
        raise ValueError('period "." found outside of ellipsis')
    if output is None:
        every = "".join(labels)
        once = sorted(c for c in set(every) - set(dots) if every.count(c) == 1)
        output = dots + "".join(once)
    return labels, output


def _ellipsis_labels(part: str, tensor: Tensor, unused: str) -> str:
    """Labels for the dimensions that "..." stands for, aligned at the right."""
    if part.count("...") > 1:
        raise ValueError("Unable to resolve ellipsis. Excess number found.")
    if tensor.dims is None:
        raise ValueError("Unable to statically infer ellipsis axes.")
    count = len(tensor.dims) + len("...") - len(part)
    free = len(unused) - count
    if count < 0 or free < 0:
        too_many = "Unable to resolve ellipsis, too many distinct labels."
        raise ValueError("Ellipses lengths do not match." if count < 0 else too_many)
    return unused[free:]


def _contract(a: Tensor, la: str, b: Tensor, lb: str, summed: set[str]) -> tuple[Tensor, str]:
    """The product of two inputs summed over `summed`, and its labels."""
    for i, (tensor, labels) in enumerate(((a, la), (b, lb))):
        if tensor.dims is None or len(tensor.dims) != len(labels):
            raise ValueError(
                f"Tensor t{i} of shape {tensor.shape} does not match einsum reduction of length"
                f" {len(labels)}"
            )
    kept = "".join(sorted((set(la) & set(lb)) - summed))
    only_a, only_b = ("".join(sorted(set(x) - set(y))) for x, y in ((la, lb), (lb, la)))
    inner = "".join(sorted(summed))
    a, b = _ordered(a, la, kept + only_a + inner), _ordered(b, lb, kept + inner + only_b)
    if not summed:
        for _ in only_b:
            a = expand_dims(a, -1)
        for _ in only_a:
            b = expand_dims(b, len(kept))
        return raw.Mul(a, b), kept + only_a + only_b
    a_sizes, split = _sizes(a), len(kept) + len(only_a)
    batch, rows = a_sizes[: len(kept)], a_sizes[len(kept) : split]
    count = _total(rows)
    depth = _total(a_sizes[split:])
    a = _resized(a, [*batch, count, depth])
    b_sizes = _sizes(b)
    columns = b_sizes[len(kept) + len(inner) :]
    b = _resized(b, [*b_sizes[: len(kept)], depth, _total(columns)])
    return _resized(matmul(a, b), [*batch, *rows, *columns]), kept + only_a + only_b


def _outer_einsum(tensors: list[Tensor], labels: list[str], output: str) -> Tensor:
    """The whole outer product, summed at the end: for axes that more than two inputs share."""
    order = "".join(sorted(set("".join(labels)) - set(output))) + output
    product: Any = None
    for tensor, part in zip(tensors, labels, strict=True):
        if tensor.dims is not None and len(tensor.dims) != len(part):
            raise ValueError(
                f"Input with axes {part} has incorrect number of dimensions (expected {len(part)},"
                f" got {len(tensor.dims)})"
            )
        aligned = _ordered(tensor, part, "".join(axis for axis in order if axis in part))
        for i, axis in enumerate(order):
            if axis not in part:
                aligned = expand_dims(aligned, i)
        product = aligned if product is None else product * aligned
    return raw.Sum(product, np.arange(len(order) - len(output), dtype=np.int32))


def _ordered(x: Tensor, labels: str, wanted: str) -> Tensor:
    return x if labels == wanted else transpose(x, perm=[labels.index(axis) for axis in wanted])


def _sizes(x: Tensor) -> list[Any]:
    """The size of each dimension: a number where it is known, else a tensor."""
    assert x.dims is not None
    if None not in x.dims:
        return list(x.dims)
    nodes = shape(x)
    return [nodes[i] if d is None else d for i, d in enumerate(x.dims)]


def _total(sizes: Sequence[Any]) -> Any:
    total: Any = 1
    for one in sizes:
        total = total * one
    return total


def _resized(x: Tensor, sizes: list[Any]) -> Tensor:
    return x if x.dims == tuple(sizes) else reshape(x, sizes)
