"""Functions of one element -> functions of many: what `map` before `batch` calls once for a batch.

The lifted function takes arrays with a first axis that counts elements. Each operation has a rule
that says how it is done for all elements at once, with the same result for each; a function with
an operation that has none (random, stateful, of shapes not known before) is not lifted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.graph.constant_value import folded_value
from weft.graph.convert import constant
from weft.graph.function_def import Body
from weft.graph.graph import Graph
from weft.graph.op_def import raw
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor


class CannotLift(Exception):
    """There is no way to do this for many elements at once."""


def lift(body: Body, elements: int) -> Body | None:
    """`body` with its first `elements` arguments, and its results, along a new first axis."""
    if body.effects:
        return None
    try:
        return _Lifting(body, elements).run()
    except CannotLift:
        return None


class _Lifting:
    """`made` maps tensors of the body to those of the new graph; `many` are those with the axis."""

    def __init__(self, body: Body, elements: int) -> None:
        self.body, self.elements = body, elements
        self.graph = Graph()
        self.made: dict[Tensor, Tensor] = {}
        self.many: set[Tensor] = set()

    def run(self) -> Body:
        self.graph._functions = self.body.graph._functions
        with self.graph.as_default():
            inputs = [self._argument(i, tensor) for i, tensor in enumerate(self.body.inputs)]
            for op in self._needed():
                self._lift(op)
        if any(tensor not in self.many for tensor in self.body.outputs):
            raise CannotLift
        return Body(self.graph, inputs, [self.made[tensor] for tensor in self.body.outputs])

    def _argument(self, i: int, tensor: Tensor) -> Tensor:
        dims = tensor.dims
        if i < self.elements:
            if dims is None or None in dims:
                raise CannotLift  # elements of different shapes have no common axis
            self.many.add(tensor)
            dims = (None, *dims)
        made: Tensor = raw.Placeholder(tensor.dtype.base_dtype, shape=dims, name=f"arg{i}")
        self.made[tensor] = made
        return made

    def _needed(self) -> list[Operation]:
        """The operations that the results need, in order."""
        found: set[Operation] = set()
        pending = [tensor.op for tensor in self.body.outputs]
        inputs = {tensor.op for tensor in self.body.inputs}
        while pending:
            op = pending.pop()
            if op in found or op in inputs:
                continue
            found.add(op)
            pending += [tensor.op for tensor in op.inputs]
        return [op for op in self.body.graph.get_operations() if op in found]

    def _lift(self, op: Operation) -> None:
        if op._control_inputs or op.definition.stateful:
            raise CannotLift
        if not any(tensor in self.many for tensor in op.inputs):
            self._keep(op, self.same(op))
            return
        rule = RULES.get(op.type)
        if rule is None:
            raise CannotLift
        made = rule(self, op)
        self._keep(op, list(made) if isinstance(made, (list, tuple)) else [made])
        self.many.update(op.outputs)

    def _keep(self, op: Operation, made: Sequence[Tensor]) -> None:
        self.made.update(zip(op.outputs, made, strict=True))

    # ---- what rules use ----

    def same(self, op: Operation, inputs: Sequence[Tensor] | None = None, **attrs: Any) -> Any:
        """The operation itself, of what has become of its inputs."""
        given = [self.made[tensor] for tensor in op.inputs] if inputs is None else inputs
        types = [tensor.dtype for tensor in op.outputs]
        added = self.graph.add_op(
            op.definition, tuple(given), types, {**op.attrs, **attrs}, op.name
        )
        return added.outputs

    def is_many(self, tensor: Tensor) -> bool:
        return tensor in self.many

    def value(self, tensor: Tensor) -> np.ndarray:
        """The value of an input that must be a constant."""
        found = None if tensor in self.many else folded_value(tensor)
        if found is None:
            raise CannotLift
        return np.asarray(found)

    def only_first(self, op: Operation) -> Tensor:
        """The first input, if it is the only one of many elements."""
        if any(tensor in self.many for tensor in op.inputs[1:]):
            raise CannotLift
        return self.made[op.inputs[0]]


Rule = Callable[[_Lifting, Operation], Any]
RULES: dict[str, Rule] = {}


def _rule(names: str) -> Callable[[Rule], Rule]:
    def declare(rule: Rule) -> Rule:
        for name in names.split():
            RULES[name] = rule
        return rule

    return declare


def rank(tensor: Tensor) -> int:
    if tensor.dims is None:
        raise CannotLift
    return len(tensor.dims)


# ---- element by element --------------------------------------------------------------------------


@_rule(
    "Abs Acos Acosh Asin Asinh Atan Atanh Cast Ceil Cos Cosh Digamma Elu Erf Erfc Exp Expm1 Floor"
    " Inv IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p LogicalNot Neg OnesLike"
    " Reciprocal Relu Relu6 Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt"
    " Square StopGradient StringToNumber Tan Tanh ZerosLike StringLower StringUpper StringStrip"
    " DecodeRaw"
)
def _unary(work: _Lifting, op: Operation) -> Any:
    return work.same(op)


@_rule("Identity")
def _identity(work: _Lifting, op: Operation) -> Any:
    return work.made[op.inputs[0]]


@_rule(
    "Add AddV2 Sub Mul Div RealDiv TruncateDiv FloorDiv FloorMod Mod TruncateMod Maximum Minimum"
    " Pow SquaredDifference Less LessEqual Greater GreaterEqual Equal NotEqual LogicalAnd LogicalOr"
    " Atan2 DivNoNan MulNoNan BitwiseAnd BitwiseOr BitwiseXor SelectV2"
)
def _broadcast(work: _Lifting, op: Operation) -> Any:
    """Operands of fewer axes get more, after the one that counts elements."""
    most = max(rank(tensor) for tensor in op.inputs)
    inputs = []
    for tensor in op.inputs:
        made = work.made[tensor]
        if work.is_many(tensor):
            for _ in range(most - rank(tensor)):
                made = raw.ExpandDims(made, 1)
        inputs.append(made)
    return work.same(op, inputs)


@_rule("AddN")
def _all_many(work: _Lifting, op: Operation) -> Any:
    if not all(work.is_many(tensor) for tensor in op.inputs):
        raise CannotLift
    return work.same(op)


@_rule("MatMul")
def _multiplied(work: _Lifting, op: Operation) -> Any:
    """Each element's product by itself, with the axis of elements in front."""
    if op.inputs[0].dtype.is_complex:
        raise CannotLift  # to transpose is not to take the adjoint
    a, b = (work.made[tensor] for tensor in op.inputs)
    adjoint = {"adj_x": op.attrs["transpose_a"], "adj_y": op.attrs["transpose_b"]}
    return raw.BatchMatMulV2(a, b, **adjoint)


# ---- axes ----------------------------------------------------------------------------------------


def _further(axes: np.ndarray, count: int) -> np.ndarray:
    """Axes of an element as axes of many."""
    axes = np.asarray(axes)
    return np.where(axes < 0, axes + count, axes) + 1


@_rule("Sum Mean Max Min Prod All Any ArgMax ArgMin")
def _reduced(work: _Lifting, op: Operation) -> Any:
    x, axes = work.only_first(op), work.value(op.inputs[1])
    moved = _further(axes, rank(op.inputs[0])).astype(axes.dtype)
    return work.same(op, [x, constant(moved)])


@_rule("ExpandDims")
def _expanded(work: _Lifting, op: Operation) -> Any:
    x, axis = work.only_first(op), int(work.value(op.inputs[1]).ravel()[0])
    return raw.ExpandDims(x, axis + 1 if axis >= 0 else axis)


@_rule("Squeeze")
def _squeezed(work: _Lifting, op: Operation) -> Any:
    dims = op.inputs[0].dims
    axes = op.attrs.get("squeeze_dims") or []
    if not axes:
        if dims is None or None in dims:
            raise CannotLift
        axes = [i for i, n in enumerate(dims) if n == 1]
    if not axes:
        return raw.Identity(work.made[op.inputs[0]])
    moved = _further(np.array(axes), rank(op.inputs[0])).tolist()
    return raw.Squeeze(work.made[op.inputs[0]], squeeze_dims=moved)


@_rule("Transpose")
def _transposed(work: _Lifting, op: Operation) -> Any:
    order = work.value(op.inputs[1])
    return raw.Transpose(work.only_first(op), np.concatenate([[0], order + 1]).astype(np.int32))


@_rule("Reshape")
def _reshaped(work: _Lifting, op: Operation) -> Any:
    """The shape of all elements is known, but for how many there are."""
    work.value(op.inputs[1])
    dims = op.outputs[0].dims
    if dims is None or None in dims or 0 in dims:
        raise CannotLift
    return raw.Reshape(work.only_first(op), [-1, *dims])


@_rule("Pack")
def _packed(work: _Lifting, op: Operation) -> Any:
    if not all(work.is_many(tensor) for tensor in op.inputs):
        raise CannotLift
    axis = op.attrs["axis"]
    return work.same(op, axis=axis + 1 if axis >= 0 else axis)


@_rule("ConcatV2")
def _concatenated(work: _Lifting, op: Operation) -> Any:
    *parts, axis = op.inputs
    if not all(work.is_many(tensor) for tensor in parts):
        raise CannotLift
    moved = int(_further(work.value(axis), rank(parts[0])).ravel()[0])
    return raw.ConcatV2([work.made[tensor] for tensor in parts], moved)


@_rule("StridedSlice")
def _sliced(work: _Lifting, op: Operation) -> Any:
    x = work.only_first(op)
    begin, end, strides = (work.value(tensor).tolist() for tensor in op.inputs[1:])
    masks = {name: op.attrs[name] << 1 for name in op.attrs if name.endswith("_mask")}
    masks["begin_mask"] |= 1
    masks["end_mask"] |= 1
    return raw.StridedSlice(x, [0, *begin], [0, *end], [1, *strides], **masks)


@_rule("OneHot")
def _one_hot(work: _Lifting, op: Operation) -> Any:
    work.only_first(op)
    axis = op.attrs["axis"]
    return work.same(op, axis=axis + 1 if axis >= 0 else axis)


@_rule("GatherV2")
def _gathered(work: _Lifting, op: Operation) -> Any:
    params, _, axis = op.inputs
    if work.is_many(params) or int(work.value(axis)) != 0 or op.attrs.get("batch_dims"):
        raise CannotLift
    return work.same(op)


@_rule("StatelessMultinomial")
def _categories(work: _Lifting, op: Operation) -> Any:
    """One draw for each element, all from the same weights."""
    logits, count, seed = op.inputs
    one = op.outputs[0].dims == (1, 1) and int(work.value(count)) == 1
    if not one or work.is_many(logits) or not work.is_many(seed):
        raise CannotLift
    given, wanted = (work.made[logits], work.made[seed]), op.attrs["output_dtype"]
    return raw._StatelessCategories(*given, output_dtype=wanted, name=op.name)


# ---- images, and records -------------------------------------------------------------------------


@_rule("ResizeBilinear ResizeNearestNeighbor ResizeBicubic ResizeArea AvgPool MaxPool")
def _of_batches(work: _Lifting, op: Operation) -> Any:
    """An operation on batches, applied to all batches put together."""
    x = work.only_first(op)
    dims, out = op.inputs[0].dims, op.outputs[0].dims
    if dims is None or out is None or None in dims or None in out:
        raise CannotLift
    rest = [work.made[tensor] for tensor in op.inputs[1:]]
    together = work.same(op, [raw.Reshape(x, [-1, *dims[1:]]), *rest])[0]
    return raw.Reshape(together, [-1, *out])


@_rule("DecodeCSV AsString RegexReplace StringToHashBucketFast StringToHashBucket StringLength")
def _of_strings(work: _Lifting, op: Operation) -> Any:
    work.only_first(op)
    return work.same(op)


@_rule("ParseSingleExample")
def _parsed(work: _Lifting, op: Operation) -> Any:
    attrs = op.attrs
    sizes = attrs["dense_shapes"]
    if attrs["num_sparse"] or any(dims is None or None in dims for dims in sizes):
        raise CannotLift
    defaults = [work.made[tensor] for tensor in op.inputs[1:]]
    return raw.ParseExample(
        work.only_first(op), [], [], attrs["dense_keys"], defaults, sparse_types=[],
        dense_shapes=[list(dims) for dims in sizes],
    )[-1]  # fmt: skip
