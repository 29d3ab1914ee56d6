"""The shapes that a node's outputs will have, by its shape rule and the inputs it is about to get.

Whether there is memory for them is asked before the kernel runs: a system may promise memory that
it does not have, and end the process that then uses it.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core.dtypes import DType
from weft.core.shapes import MAX_RANK
from weft.graph.operation import Operation
from weft.graph.shape_fn import MOST_READ, Dims, ShapeContext, known, size
from weft.ops.kit.room import byte_count, check_room
from weft.passes.client_graph import Node

_SMALL = 1 << 24  # bytes
_SHORT = 256  # bytes of a value that are quickly compared
_MANY = 64  # inputs that are remembered
_shape = operator.attrgetter("shape")
# What these make is as large as a value among their inputs says: a few bytes can ask for anything.
GROWING = frozenset({
    "AvgPool3DGrad", "AvgPoolGrad", "BatchToSpace", "BatchToSpaceND", "Bincount", "BroadcastTo",
    "CombinedNonMaxSuppression", "Conv2DBackpropFilter", "Conv2DBackpropInput",
    "Conv3DBackpropFilterV2", "Conv3DBackpropInputV2", "CropAndResize", "CropAndResizeGradImage",
    "DecodePaddedRaw", "DenseBincount", "DepthwiseConv2dNativeBackpropFilter",
    "DepthwiseConv2dNativeBackpropInput", "DynamicStitch", "Empty", "ExtractGlimpse", "Fill",
    "Fingerprint", "FractionalAvgPoolGrad", "FusedPadConv2D", "FusedResizeAndPadConv2D",
    "HistogramFixedWidth",
    "IRFFT", "IRFFT2D", "IRFFT3D", "ImageProjectiveTransformV2",
    "ImageProjectiveTransformV3", "LinSpace", "MatrixDiagV2",
    "MatrixDiagV3", "MaxPoolGradGradV2", "MaxPoolV2", "MirrorPad", "Multinomial",
    "NonMaxSuppressionV4", "NonMaxSuppressionV5", "OneHot", "Pad", "PadV2", "ParallelDynamicStitch",
    "ParameterizedTruncatedNormal", "RFFT", "RFFT2D", "RFFT3D", "RaggedBincount",
    "RaggedTensorToTensor", "RandomGamma", "RandomPoissonV2", "RandomStandardNormal",
    "RandomUniform", "RandomUniformInt", "ResizeArea", "ResizeBicubic", "ResizeBilinear",
    "ResizeNearestNeighbor", "ResizeNearestNeighborGrad", "ScaleAndTranslate", "ScatterNd",
    "SobolSample", "SpaceToBatch", "SpaceToBatchND", "SparseBincount",
    "SparseReduceMax", "SparseReduceSum", "SparseSegmentMeanGrad",
    "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNGrad",
    "SparseSegmentSqrtNWithNumSegments", "SparseSegmentSumWithNumSegments",
    "SparseTensorDenseMatMul", "SparseToDense", "StatelessMultinomial", "StatelessRandomBinomial",
    "StatelessRandomGammaV2", "StatelessRandomGammaV3", "StatelessRandomNormal",
    "StatelessRandomNormalV2", "StatelessRandomPoisson", "StatelessRandomUniform",
    "StatelessRandomUniformFullInt", "StatelessRandomUniformFullIntV2", "StatelessRandomUniformInt",
    "StatelessRandomUniformIntV2", "StatelessRandomUniformV2", "StatelessTruncatedNormal",
    "StatelessTruncatedNormalV2", "StridedSliceGrad", "TruncatedNormal",
    "UnsortedSegmentJoin", "UnsortedSegmentMax", "UnsortedSegmentMin", "UnsortedSegmentProd",
    "UnsortedSegmentSum",
})  # fmt: skip

ASKING = frozenset({"Range", "SparseFillEmptyRows", "Tile"})  # their kernels ask for room


class _GivenInputs(ShapeContext):
    """A shape rule's context whose answers come from arrays."""

    __slots__ = ("_inputs", "_node", "asked")

    def __init__(self, node: Node, inputs: Sequence[Any]) -> None:
        self._node, self._inputs, self.attrs = node, inputs, node.attrs
        self.asked: set[int] = set()  # inputs whose values count

    @property
    def num_inputs(self) -> int:
        return len(self._inputs)

    @property
    def num_outputs(self) -> int:
        return len(self._node.dtypes)

    @property
    def op(self) -> Operation:
        assert self._node.op is not None
        return self._node.op

    def dims(self, i: int) -> Dims:
        dims: Dims = np.shape(self._inputs[i])
        return dims

    def dtype(self, i: int) -> DType:
        source, index = self._node.inputs[i]
        return source.dtypes[index]

    def value(self, i: int) -> np.ndarray | None:
        self.asked.add(i)
        return np.asarray(self._inputs[i]) if np.size(self._inputs[i]) <= MOST_READ else None

    def partial(self, i: int) -> Dims:
        self.asked.add(i)
        if np.size(self._inputs[i]) > MAX_RANK:
            return None
        return tuple(None if n == -1 else int(n) for n in np.ravel(self._inputs[i]))


class SizeCheck:
    """A look at what a node is about to make, before it does.

    Inputs for which that was little are remembered: what a shape rule says follows from their
    shapes, and from the values that it asked for.
    """

    __slots__ = ("_asked", "_node", "_small")

    def __init__(self, node: Node) -> None:
        self._node = node
        self._asked: tuple[int, ...] = ()  # inputs whose values the rule asks for
        self._small: set[Any] = set()

    def __call__(self, inputs: Sequence[Any]) -> None:
        """ResourceExhaustedError if there is no memory for it."""
        try:
            if self._small and _key(inputs, self._asked) in self._small:
                return
        except AttributeError:
            pass  # something that is no array was not remembered either
        given = _GivenInputs(self._node, inputs)
        found = _by_rule(self._node, given)
        # More elements than integers number are the kernel's own to refuse.
        pairs = [
            ([d or 0 for d in dims], dtype.base_dtype.np_storage)
            for dims, dtype in zip(found, self._node.dtypes, strict=False)
            if dims is not None and 0 <= (size(dims) or 0) < 1 << 63
        ]
        for dims, kind in pairs:
            check_room(dims, kind)
        if len(pairs) == len(self._node.dtypes) and all(byte_count(*p) < _SMALL for p in pairs):
            self._remember(tuple(given.asked), inputs)

    def _remember(self, asked: tuple[int, ...], inputs: Sequence[Any]) -> None:
        arrays = all(isinstance(each, (np.ndarray, np.generic)) for each in inputs)
        if arrays and all(_is_short(inputs[i]) for i in asked):
            if asked != self._asked or len(self._small) >= _MANY:
                self._asked, self._small = asked, set()
            self._small.add(_key(inputs, asked))


def check_expected(node: Node, inputs: Sequence[Any]) -> None:
    """ResourceExhaustedError if there is no memory for what a node is about to make."""
    if not _is_always_small(node):
        SizeCheck(node)(inputs)


def _is_short(value: Any) -> bool:
    return bool(value.nbytes <= _SHORT and value.dtype != object)


def _key(inputs: Sequence[Any], asked: tuple[int, ...]) -> Any:
    values = [inputs[i].tobytes() for i in asked]
    return *map(_shape, inputs), *values


def may_grow(node: Node) -> bool:
    """Whether any call of a node may make something that there is no memory for."""
    return node.type in GROWING and not _is_always_small(node)


def most_elements(node: Node, inputs: Sequence[Any]) -> int:
    """The elements of the largest output that a node is about to make, as far as rules tell."""
    return max((size(dims) or 0 for dims, _ in expected(node, inputs)), default=0)


def expected(node: Node, inputs: Sequence[Any]) -> list[tuple[Any, np.dtype]]:
    """Dims and NumPy's type of each output of which the inputs tell the dims."""
    every = node.dims if all(map(known, node.dims)) else _expected(node, inputs)
    pairs = zip(every, node.dtypes, strict=False)
    return [(dims, np.dtype(dtype.base_dtype.np_storage)) for dims, dtype in pairs if known(dims)]


def _is_always_small(node: Node) -> bool:
    pairs = zip(node.dims, node.dtypes, strict=True)
    return all(known(dims) and _is_small(dims, dtype) for dims, dtype in pairs)


def _is_small(dims: Any, dtype: DType) -> bool:
    return byte_count(dims, dtype.base_dtype.np_storage) < _SMALL


def _expected(node: Node, inputs: Sequence[Any]) -> Sequence[Dims]:
    return _by_rule(node, _GivenInputs(node, inputs))


def _by_rule(node: Node, given: _GivenInputs) -> Sequence[Dims]:
    rule = node.definition.shape_rule
    if rule is None or not given.num_inputs:
        return ()
    try:
        found = rule(given)
    except Exception:
        return ()  # inputs that do not fit: the kernel says so in its own words
    return found if type(found) is list else [found]
