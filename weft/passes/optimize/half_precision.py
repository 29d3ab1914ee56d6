"""Mixed precision: products and convolutions in half precision, and what lies between them.

A program in single precision is rewritten when its session is told so (`auto_mixed_precision`).
Every operation is of one of four kinds, by TensorFlow's lists:

    faster      is computed in half precision: tensor cores gain from it
    either      is, where it lies between two that are
    indifferent takes on the precision of its neighbours: it only moves or compares numbers
    wide        stays in single precision, and so does what lies between two of them

All others stay as they are. Casts are put where the precision changes; variables keep theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from weft.core import dtypes
from weft.core.dtypes import DType
from weft.core.walk import reached
from weft.graph.kernel_call import flat_args
from weft.graph.op_def import lookup
from weft.graph.op_signature import ArgDef
from weft.passes.client_graph import ClientGraph, Edge, Node

_FASTER = set(
    """
    BatchMatMul BatchMatMulV2 BlockLSTM BlockLSTMGrad BlockLSTMGradV2 BlockLSTMV2 Conv2D
    Conv2DBackpropFilter Conv2DBackpropInput Conv3D Conv3DBackpropFilterV2 Conv3DBackpropInputV2
    DepthwiseConv2dNative DepthwiseConv2dNativeBackpropFilter DepthwiseConv2dNativeBackpropInput
    Einsum GRUBlockCell GRUBlockCellGrad LSTMBlockCell LSTMBlockCellGrad MatMul _FusedAttention
    _FusedAttentionGrad
    """.split()
)
_EITHER = set(
    """
    Add AddN AddV2 AvgPool AvgPool3D AvgPool3DGrad AvgPoolGrad BiasAdd BiasAddGrad BiasAddV1 Elu
    EluGrad Erf Erfc FloorDiv FusedBatchNormGradV2 FusedBatchNormGradV3 FusedBatchNormV2
    FusedBatchNormV3 Inv LeakyRelu LeakyReluGrad Log Log1p LogSoftmax Mul Prod RealDiv Reciprocal
    Sigmoid SigmoidGrad Softmax Softplus SoftplusGrad Sqrt Sub Tanh TanhGrad
    """.split()
)
_WIDE = set(
    """
    Exp Expm1 L2Loss Mean Pow SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits Sum
    """.split()
)
_INDIFFERENT = set(
    """
    Abs ArgMax ArgMin BatchToSpaceND BroadcastTo Ceil ClipByValue Concat ConcatV2 DepthToSpace
    EnsureShape Equal ExpandDims Fill Floor Gather GatherNd GatherV2 Greater GreaterEqual Identity
    IsFinite IsInf IsNan Less LessEqual Max MaxPool MaxPool3D MaxPool3DGrad MaxPoolGrad
    MaxPoolGradV2 MaxPoolV2 Maximum Min Minimum MirrorPad MirrorPadGrad Neg NotEqual OneHot OnesLike
    Pack Pad PadV2 PreventGradient Relu Relu6 Relu6Grad ReluGrad Reshape Reverse ReverseSequence
    ReverseV2 Round Select SelectV2 Shape ShapeN Sign Size Slice Snapshot SpaceToBatchND
    SpaceToDepth Split SplitV Squeeze StopGradient StridedSlice StridedSliceGrad Tile TopK TopKV2
    Transpose ZerosLike
    """.split()
)


def use_half(graph: ClientGraph, half: DType) -> bool:
    """Rewrites the graph in place; says whether there was anything to do."""
    chosen = _chosen(_Neighbours(graph.nodes), half)
    if chosen:
        _rewrite(graph, chosen, half)
    return bool(chosen)


# ---- the type of an edge ----------------------------------------------------------------------


def _typed(args: list[ArgDef]) -> list[bool]:
    return [arg.type_attr == "T" for arg in args]


def _inputs(node: Node) -> list[bool]:
    """For every input of the node, whether its type is the one that changes."""
    return _typed(flat_args(node.definition, node.attrs))


def _outputs(node: Node) -> list[bool]:
    args = node.definition.output_args
    if any(arg.is_list for arg in args):
        return [args[0].type_attr == "T"] * len(node.dtypes)
    return _typed(list(args))


class _Neighbours:
    """Which nodes pass numbers of single precision, whose type can change, to which."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes = [node for node in nodes if _is_single(node)]
        self.before: dict[Node, list[Node]] = defaultdict(list)
        self.after: dict[Node, list[Node]] = defaultdict(list)
        inside = set(self.nodes)
        for node in self.nodes:
            for (source, i), changes in zip(node.inputs, _inputs(node), strict=True):
                if changes and source in inside and _outputs(source)[i]:
                    self.before[node].append(source)
                    self.after[source].append(node)


def _is_single(node: Node) -> bool:
    if node.attrs.get("T") is not dtypes.float32 or node.definition.stateful:
        return False
    args = [*node.definition.input_args, *node.definition.output_args]
    return not any(arg.is_ref for arg in args) and not node.definition.is_identity


def _takes(node: Node, half: DType) -> bool:
    allowed = node.definition.attrs["T"].allowed
    return allowed is None or half in allowed


# ---- which nodes ------------------------------------------------------------------------------


def _chosen(graph: _Neighbours, half: DType) -> set[Node]:
    kinds: dict[str, set[Node]] = {"faster": set(), "either": set(), "same": set(), "wide": set()}
    lists = {"faster": _FASTER, "either": _EITHER, "same": _INDIFFERENT, "wide": _WIDE}
    for node in graph.nodes:
        for kind, names in lists.items():
            if node.type in names and (kind == "wide" or _takes(node, half)):
                kinds[kind].add(node)
    through = kinds["either"] | kinds["same"]
    wide = kinds["wide"] | _between(graph, kinds["wide"], through)
    chosen = kinds["faster"] | _between(graph, kinds["faster"], through - wide)
    return _spread(graph, chosen, kinds["same"] - wide)


def _between(graph: _Neighbours, ends: set[Node], through: set[Node]) -> set[Node]:
    """The nodes of `through` that lie on a way from one of `ends` to another."""
    later = reached(ends, lambda node: [n for n in graph.after[node] if n in through])
    earlier = reached(ends, lambda node: [n for n in graph.before[node] if n in through])
    return (later & earlier) - ends


def _spread(graph: _Neighbours, chosen: set[Node], through: set[Node]) -> set[Node]:
    """`chosen`, and the nodes of `through` that touch them."""
    return reached(
        chosen, lambda node: [n for n in graph.before[node] + graph.after[node] if n in through]
    )


# ---- rewriting --------------------------------------------------------------------------------


class _Casts:
    """The casts that a rewrite needs, each made once."""

    def __init__(self) -> None:
        self.before: dict[Node, list[Node]] = defaultdict(list)
        self.behind: dict[Node, list[Node]] = defaultdict(list)
        self._made: dict[tuple[Edge, DType], Edge] = {}

    def to(self, edge: Edge, dtype: DType, reader: Node | None = None) -> Edge:
        source, i = edge
        if source.dtypes[i].base_dtype is dtype:
            return edge
        if reader is not None and source.dtypes[i]._is_ref_dtype:
            return self._read(edge, dtype, reader)
        if (edge, dtype) not in self._made:
            cast = _cast(edge, dtype)
            self.behind[source].append(cast)
            self._made[edge, dtype] = (cast, 0)
        return self._made[edge, dtype]

    def _read(self, edge: Edge, dtype: DType, reader: Node) -> Edge:
        """A variable is read when its reader would have read it: not before what that waits for."""
        cast = _cast(edge, dtype)
        cast.controls = list(reader.controls)
        self.before[reader].append(cast)
        return cast, 0


def _cast(edge: Edge, dtype: DType) -> Node:
    source, i = edge
    attrs = {"SrcT": source.dtypes[i].base_dtype, "DstT": dtype, "Truncate": False}
    name = f"{source.name}/{i}/to_{dtype.name}"
    return Node(
        name, lookup("Cast"), attrs, [edge], [], [dtype], [source.dims[i]], source.op,
        source.device,
    )  # fmt: skip


def _rewrite(graph: ClientGraph, chosen: set[Node], half: DType) -> None:
    for node in chosen:
        changes = _outputs(node)
        node.attrs = {**node.attrs, "T": half}
        node.dtypes = [half if c else d for c, d in zip(changes, node.dtypes, strict=True)]
    casts = _Casts()
    for node in graph.nodes:
        node.inputs = [
            casts.to(edge, half if node in chosen else dtypes.float32, node)
            if typed and edge[0].dtypes[edge[1]].base_dtype in (half, dtypes.float32)
            else edge
            for edge, typed in zip(node.inputs, _changing(node, chosen, half), strict=True)
        ]
    graph.fetches = [
        casts.to(edge, dtypes.float32) if _became_half(edge, chosen) else edge
        for edge in graph.fetches
    ]
    graph.nodes = [
        n for node in graph.nodes for n in (*casts.before[node], node, *casts.behind[node])
    ]


def _became_half(edge: Edge, chosen: set[Node]) -> bool:
    node, i = edge
    return node in chosen and _outputs(node)[i]


def _changing(node: Node, chosen: set[Node], half: DType) -> list[bool]:
    """For every input of the node, whether it is to be cast if it is not of the right type."""
    if node in chosen:
        return _inputs(node)
    return [_became_half(edge, chosen) for edge in node.inputs]
