"""Finds attention, and the gradients that tf.gradients makes of it, in the graph of a step."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from weft.passes.client_graph import ClientGraph, Edge, Node

_PRODUCTS = ("BatchMatMul", "BatchMatMulV2")
# Operations that may be left out when nothing reads them: they cannot fail and change nothing.
_IDLE = {"Identity", "Mul", "Sum", "Reshape", "RealDiv", "Neg", "Cast", "AddN"}


class _NoMatch(Exception):
    pass


def _require(condition: object) -> None:
    if not condition:
        raise _NoMatch


@dataclass
class Attention:
    """The parts that were found. All nodes of `forward` and `backward` go away."""

    query: Edge
    key: Edge
    value: Edge
    output: Node
    adj_key: bool
    mask: list[Edge]
    scale: float
    forward: set[Node] = field(default_factory=set)
    backward: set[Node] = field(default_factory=set)
    gradient: Edge | None = None
    first: Node | None = None  # of `backward`, where the node for the gradients is put
    # dq, dk, dv; None where the program has no use for it.
    gradients: list[Node | None] = field(default_factory=lambda: [None, None, None])

    @property
    def outputs(self) -> list[Node]:
        return [self.output, *(n for n in self.gradients if n is not None)]

    @property
    def inputs(self) -> list[Edge]:
        return [self.query, self.key, self.value, *self.mask]


# ---- finding ----------------------------------------------------------------------------------


class Matcher:
    def __init__(self, graph: ClientGraph) -> None:
        self.kept = {n for n, _ in [*graph.fetches, *graph.feeds]} | set(graph.targets)
        self.readers: dict[Node, list[Node]] = defaultdict(list)
        self.waiting: dict[Node, list[Node]] = defaultdict(list)
        for node in graph.nodes:
            for source, _ in node.inputs:
                self.readers[source].append(node)
            for control in node.controls:
                self.waiting[control].append(node)
        self.position = {node: i for i, node in enumerate(graph.nodes)}
        self.inner: set[Node] = set()

    def match(self, softmax: Node) -> Attention | None:
        try:
            found = self._forward(softmax)
            self._backward(softmax, found)
            self._close(found)
            self._check_order(found)
        except _NoMatch:
            return None
        return found

    def source(self, edge: Edge) -> Node:
        """The node behind an edge, which becomes part of the pattern."""
        node = edge[0]
        while node.definition.is_identity:
            self.inner.add(node)
            node = node.inputs[0][0]
        self.inner.add(node)
        return node

    def uses(self, node: Node) -> Iterator[Node]:
        """The readers of the node, seen through identities, apart from those that are not read."""
        for reader in self.readers[node]:
            if self._is_idle(reader):
                continue
            if reader.definition.is_identity:
                self.inner.add(reader)
                yield from self.uses(reader)
            else:
                yield reader

    def _is_idle(self, node: Node) -> bool:
        if node in self.kept or node.type not in _IDLE:
            return False
        return all(self._is_idle(reader) for reader in self.readers[node])

    # ---- the two halves ----

    def _forward(self, softmax: Node) -> Attention:
        self.inner.add(softmax)
        products = [n for n in self.uses(softmax) if _is_product(n, softmax, None, adj_x=False)]
        _require(len(products) == 1 and not products[0].attrs["adj_y"])
        mask, scale = [], 1.0
        node = self.source(softmax.inputs[0])
        if node.definition.infix == "+":
            i = 0 if _leads_to_product(node.inputs[0]) else 1
            mask, node = [node.inputs[1 - i]], self.source(node.inputs[i])
        factor = _factor(node)
        if factor is not None:
            scale, node = factor[0], self.source(factor[1])
        _require(node.type in _PRODUCTS and not node.attrs["adj_x"])
        q, k = node.inputs
        adjoint = bool(node.attrs["adj_y"])
        return Attention(q, k, products[0].inputs[1], products[0], adjoint, mask, scale)

    def _backward(self, softmax: Node, found: Attention) -> None:
        others = [n for n in self.uses(softmax) if n is not found.output]
        if not others:
            return
        muls = [n for n in others if n.definition.infix == "*"]
        products = [n for n in others if _is_product(n, softmax, None, adj_x=True)]
        _require(len(muls) == 2 and len(products) <= 1 and len(others) == 2 + len(products))
        dp, ds = self._softmax_gradient(softmax, muls)
        _require(dp.type in _PRODUCTS and dp.attrs["adj_y"] and not dp.attrs["adj_x"])
        found.gradient, found.first = (
            dp.inputs[0],
            min([dp, *products], key=self.position.__getitem__),
        )
        _require(_origin(dp.inputs[1]) == _origin(found.value))
        for dv in products:
            _require(_origin(dv.inputs[1]) == _origin(found.gradient) and not dv.attrs["adj_y"])
            found.gradients[2] = dv
        self._score_gradients(self._scaled(ds, found.scale), found)

    def _softmax_gradient(self, p: Node, muls: list[Node]) -> tuple[Node, Node]:
        """dp and ds of ds = (dp - sum(dp * p)) * p, given the two multiplications."""
        for ds, weighted in (muls, muls[::-1]):
            sub, dp = self._other(ds, p), self._other(weighted, p)
            if sub is None or dp is None or sub.definition.infix != "-":
                continue
            total = self.source(sub.inputs[1])
            _require(total.type == "Sum" and total.attrs["keep_dims"] and _is_last_axis(total))
            _require(self.source(total.inputs[0]) is weighted and self.source(sub.inputs[0]) is dp)
            self.inner |= {ds, weighted, sub, dp}
            return dp, ds
        raise _NoMatch

    def _other(self, mul: Node, p: Node) -> Node | None:
        """The other factor of a product with `p`."""
        nodes = [_origin(edge)[0] for edge in mul.inputs]
        if p not in nodes:
            return None
        edge = mul.inputs[1 - nodes.index(p)]
        self.source(edge)
        return _origin(edge)[0]

    def _scaled(self, ds: Node, scale: float) -> Node:
        if scale == 1:
            return ds
        scaled = list(self.uses(ds))
        _require(len(scaled) == 1)
        factor = _factor(scaled[0])
        _require(factor is not None and factor[0] == scale)
        self.inner.add(scaled[0])
        return scaled[0]

    def _score_gradients(self, ds: Node, found: Attention) -> None:
        q, k, adjoint = _origin(found.query), _origin(found.key), found.adj_key
        for node in self.uses(ds):
            if _is_product(node, ds, k, adj_x=False) and node.attrs["adj_y"] != adjoint:
                which = 0
            elif adjoint and _is_product(node, ds, q, adj_x=True):
                which = 1
            else:
                which = 1
                _require(not adjoint and _is_product(node, q[0], (ds, 0), adj_x=True))
            _require(which == 0 or not node.attrs["adj_y"])
            _require(found.gradients[which] is None)
            found.gradients[which] = node

    # ---- nothing else may read inner values ----

    def _close(self, found: Attention) -> None:
        """Takes in the idle readers of inner nodes; there must be no other readers."""
        outputs = set(found.outputs)
        stack = list(self.inner - outputs)
        while stack:
            node = stack.pop()
            _require(node not in self.kept and not node.definition.stateful)
            for reader in self.readers[node]:
                if reader not in self.inner and reader not in outputs:
                    _require(self._is_idle(reader))
                    self.inner.add(reader)
                    stack.append(reader)
        nodes = self.inner | outputs
        waits = [c for node in nodes for c in node.controls]
        _require(all(c in nodes or _only_groups(c, nodes) for c in waits))
        begin = len(self.position) if found.first is None else self.position[found.first]
        found.forward = {n for n in nodes if self.position[n] < begin}
        found.backward = nodes - found.forward

    def _check_order(self, found: Attention) -> None:
        """Requires that the inputs of a new node come before its place, and its users behind."""
        place = self.position[found.output]
        _require(found.output in found.forward)
        _require(all(self.position[source] < place for source, _ in found.inputs))
        for node in found.forward:
            _require(all(self.position[w] > place for w in self.waiting[node]))
        if found.first is not None and found.gradient is not None:
            place = self.position[found.first]
            needed = [*found.inputs, found.gradient]
            _require(all(self.position[source] < place for source, _ in needed))


def _origin(edge: Edge) -> Edge:
    while edge[0].definition.is_identity:
        edge = edge[0].inputs[0]
    return edge


def _is_product(node: Node, x: Node, y: Edge | None, adj_x: bool) -> bool:
    """Whether the node is x y, or x^T y; any y will do for None."""
    if node.type not in _PRODUCTS or bool(node.attrs["adj_x"]) != adj_x:
        return False
    left, right = (_origin(edge) for edge in node.inputs)
    return left[0] is x and (y is None or right == y)


def _leads_to_product(edge: Edge) -> bool:
    node = _origin(edge)[0]
    factor = _factor(node)
    return (node if factor is None else _origin(factor[1])[0]).type in _PRODUCTS


def _factor(node: Node) -> tuple[float, Edge] | None:
    """(c, x) of a node that is x * c or x / (1 / c) for a constant c."""
    if node.definition.infix == "*":
        for i in (0, 1):
            value = _scalar(node.inputs[i])
            if value is not None:
                return value, node.inputs[1 - i]
    if node.type == "RealDiv":
        value = _scalar(node.inputs[1])
        if value:
            return 1 / value, node.inputs[0]
    return None


def _scalar(edge: Edge) -> float | None:
    node = _origin(edge)[0]
    if not node.definition.is_constant or node.attrs["value"].size != 1:
        return None
    return float(node.attrs["value"].reshape(()))


def _is_last_axis(total: Node) -> bool:
    axes, dims = _origin(total.inputs[1])[0], total.dims[0]
    if not axes.definition.is_constant or axes.attrs["value"].size != 1 or dims is None:
        return False
    return int(axes.attrs["value"].reshape(())) in (-1, len(dims) - 1)


def _only_groups(control: Node, nodes: set[Node]) -> bool:
    """Whether the node does nothing but wait for some of `nodes`."""
    return control.type == "NoOp" and all(
        c in nodes or _only_groups(c, nodes) for c in control.controls
    )
