"""Finds attention in the graph of a step, as programs spell it, and its gradients."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from weft.passes.client_graph import ClientGraph, Edge, Node, origin
from weft.passes.optimize.constants import Constants, is_scalar, uniform
from weft.passes.optimize.gradient_match import arriving, derivative, match

_PRODUCTS = ("BatchMatMul", "BatchMatMulV2")
_SELECTS = ("Select", "SelectV2")
# Operations that may be left out when nothing reads them: they cannot fail and change nothing.
_IDLE = {"Identity", "Mul", "Sum", "Reshape", "RealDiv", "Neg", "Cast", "AddN"}
_HIDDEN = -1e4  # scores from here down have no weight beside any other


class _NoMatch(Exception):
    pass


def _require(condition: object) -> None:
    if not condition:
        raise _NoMatch


@dataclass
class Attention:
    """The parts that were found. All nodes of `forward` and `backward` go away.

    `masks` are added to the scores. `seen` are conditions, true where a score counts, or, with
    `hides`, where it does not. `nodes` compute the output and the gradients.
    """

    query: Edge
    key: Edge
    value: Edge
    output: Node
    adj_key: bool
    scale: float = 1.0
    masks: list[Edge] = field(default_factory=list)
    seen: list[Edge] = field(default_factory=list)
    hides: bool = False
    causal: bool = False
    nodes: list[Node] = field(default_factory=list)
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
        return [self.query, self.key, self.value, *self.masks, *self.seen]


@dataclass
class _Scores:
    """What a program does with the product of queries and keys before the softmax."""

    product: Node
    path: list[Node]
    scale: float = 1.0
    masks: list[tuple[Edge, float]] = field(default_factory=list)  # with the sign of each
    gates: list[Edge] = field(default_factory=list)
    seen: list[tuple[Edge, bool]] = field(default_factory=list)  # and whether it hides

    @property
    def terms(self) -> list[Edge]:
        return [*(e for e, _ in self.masks), *self.gates, *(e for e, _ in self.seen)]


# ---- the way from the product of queries and keys to the softmax ------------------------------


def _ways(node: Node) -> tuple[int, ...]:
    """The inputs of a node through which scores may come."""
    if node.type == "Cast" and node.dtypes[0].is_floating:
        return (0,)
    if node.type in _SELECTS:
        return (1, 2)
    if node.type == "RealDiv":
        return (0,)
    return {"*": (0, 1), "+": (0, 1), "-": (0,)}.get(node.definition.infix or "", ())


def _leads(edge: Edge, depth: int = 8) -> bool:
    node = origin(edge)[0]
    if node.type in _PRODUCTS:
        return True
    return depth > 0 and any(_leads(node.inputs[i], depth - 1) for i in _ways(node))


def _scores(edge: Edge) -> _Scores:
    """Follows the way back to the product, and notes on return what is done with it."""
    node = origin(edge)[0]
    if node.type in _PRODUCTS:
        return _Scores(node, [node])
    ways = [i for i in _ways(node) if _leads(node.inputs[i])]
    _require(ways)
    found = _scores(node.inputs[ways[0]])
    found.path.append(node)
    if node.type in _SELECTS:
        _note_select(node, ways[0], found)
    elif node.type != "Cast":
        _note_arithmetic(node, node.inputs[1 - ways[0]], found)
    return found


def _note_arithmetic(node: Node, other: Edge, found: _Scores) -> None:
    infix = node.definition.infix
    if infix in ("+", "-"):
        found.masks.append((other, 1.0 if infix == "+" else -1.0))
        return
    _require(not found.terms)  # a mask is scaled with the scores
    factor = is_scalar(origin(other)[0])
    if factor is None:
        _require(infix == "*")
        found.gates.append(other)
    else:
        _require(factor)
        found.scale *= factor if infix == "*" else 1 / factor


def _note_select(node: Node, way: int, found: _Scores) -> None:
    fill = uniform(node.inputs[3 - way], found.path)
    _require(fill is not None and fill <= _HIDDEN)
    found.seen.append((node.inputs[0], way == 2))


# ---- finding ----------------------------------------------------------------------------------


class Matcher:
    def __init__(self, graph: ClientGraph, constants: Constants) -> None:
        self.constants = constants
        self.kept = {n for n, _ in [*graph.fetches, *graph.feeds]} | set(graph.targets)
        self.readers: dict[Node, list[Node]] = defaultdict(list)
        self.waiting: dict[Node, list[Node]] = defaultdict(list)
        for node in graph.nodes:
            for source, _ in node.inputs:
                self.readers[source].append(node)
            for control in node.controls:
                self.waiting[control].append(node)
        self.position = {node: i for i, node in enumerate(graph.nodes)}

    def match(self, softmax: Node) -> Attention | None:
        try:
            spelled, argument = _softmax(softmax)
            way = _scores(argument)
            found = self._forward(softmax, way)
            self._note_masks(way, found)
            inner = self._backward({*way.path, *spelled, found.output}, found)
            self._close(inner, found)
            self._check_order(found)
        except _NoMatch:
            return None
        return found

    def uses(self, node: Node) -> Iterator[Node]:
        """The readers of the node, seen through identities, apart from those that are not read."""
        for reader in self.readers[node]:
            if self._is_idle(reader):
                continue
            if reader.definition.is_identity:
                yield from self.uses(reader)
            else:
                yield reader

    def _is_idle(self, node: Node) -> bool:
        if node in self.kept or node.type not in _IDLE:
            return False
        return all(self._is_idle(reader) for reader in self.readers[node])

    # ---- the two halves ----

    def _forward(self, softmax: Node, way: _Scores) -> Attention:
        product = way.product
        _require(not product.attrs["adj_x"])
        casts = [n for n in self.uses(softmax) if n.type == "Cast"]
        outputs = [
            (n, weights)
            for weights in [softmax, *casts]
            for n in self.uses(weights)
            if n.type in _PRODUCTS and not n.attrs["adj_x"] and origin(n.inputs[0])[0] is weights
        ]
        _require(len(outputs) == 1 and not outputs[0][0].attrs["adj_y"])
        output, weights = outputs[0]
        if weights is not softmax:
            way.path.append(weights)
        q, k = product.inputs
        adjoint = bool(product.attrs["adj_y"])
        return Attention(q, k, output.inputs[1], output, adjoint, scale=way.scale)

    def _note_masks(self, way: _Scores, found: Attention) -> None:
        found.masks = [edge for edge, _ in way.masks]
        found.seen = [edge for edge, _ in way.seen]
        found.hides = any(hides for _, hides in way.seen)
        found.causal = self._is_causal(way, found)
        if way.gates or any(sign < 0 for _, sign in way.masks):
            _require(found.causal)
            found.masks += way.gates
        _require(len(found.masks) <= 1 or found.causal)
        _require(len(found.seen) <= 1)

    def _is_causal(self, way: _Scores, found: Attention) -> bool:
        """Whether masks, gates and conditions are constant and hide just what comes later."""
        query, key = found.query[0].dims[found.query[1]], found.key[0].dims[found.key[1]]
        if query is None or key is None or not way.terms:
            return False
        length = query[-2]
        if length is None or length != key[-2 if found.adj_key else -1]:
            return False
        hidden = np.zeros((length, length), bool)
        for edge, sign in way.masks:
            value = self._square(edge, length)
            if value is None or not ((value == 0) | (sign * value <= _HIDDEN)).all():
                return False
            hidden |= value != 0
        for edge, hides in way.seen:
            value = self._square(edge, length)
            if value is None:
                return False
            hidden |= value.astype(bool) == hides
        gates = [self._square(edge, length) for edge in way.gates]
        if any(gate is None or ((gate != 1) & ~hidden).any() for gate in gates):
            return False
        return np.array_equal(hidden, np.triu(np.ones_like(hidden), 1))

    def _square(self, edge: Edge, length: int) -> np.ndarray | None:
        """The constant behind an edge as a matrix, if it is one, the same for all heads."""
        value = self.constants.value(edge)
        if value is None or value.shape[-2:] != (length, length):
            return None
        first, *others = value.reshape(-1, length, length)
        if any(not np.array_equal(first, other) for other in others):
            return None
        return first if first.dtype == bool else first.astype(np.float32)

    def _backward(self, way: set[Node], found: Attention) -> set[Node]:
        """The nodes of the way forward and of the gradients, which are noted."""
        if not any(self._has_other_readers(node, way) for node in way - {found.output}):
            return way
        _require(len({found.query, found.key, found.value}) == 3)
        nodes = sorted(way, key=self.position.__getitem__)
        pattern = derivative(nodes, found.inputs, found.output, 3)
        _require(len(pattern.fetches) == 4)
        alike = match(pattern, found.inputs, self.uses)
        arrived = next(arriving(pattern, alike, self.uses), None)
        if arrived is None:
            raise _NoMatch
        found.gradient = arrived
        alike = match(pattern, [*found.inputs, arrived], self.uses)
        ends = [alike.get(origin(edge)) for edge in pattern.fetches[1:]]
        found.gradients = [None if end is None else end[0] for end in ends]
        return way | {alike[n, 0][0] for n in pattern.nodes if n.inputs and (n, 0) in alike}

    def _has_other_readers(self, node: Node, inner: set[Node]) -> bool:
        return any(reader not in inner for reader in self.uses(node))

    # ---- nothing else may read inner values ----

    def _close(self, inner: set[Node], found: Attention) -> None:
        """Takes in identities and idle readers; inner values must have no other readers."""
        found.nodes = sorted(inner, key=self.position.__getitem__)
        outputs = set(found.outputs)
        stay = {n for n in inner - outputs if self._stays(n, inner)}
        gone = inner - stay
        stack = list(gone - outputs)
        while stack:
            node = stack.pop()
            _require(node not in self.kept and not node.definition.stateful)
            for reader in self.readers[node]:
                if reader not in gone:
                    _require(reader.definition.is_identity or self._is_idle(reader))
                    gone.add(reader)
                    stack.append(reader)
        waits = [c for node in gone for c in node.controls]
        _require(all(c in gone or _only_groups(c, gone) for c in waits))
        self._split(gone, found)

    def _stays(self, node: Node, inner: set[Node]) -> bool:
        """Whether a node tells the shape of what stays, to others as well."""
        if node.definition.measures is None or not self._has_other_readers(node, inner):
            return False
        return not any(origin(edge)[0] in inner for edge in node.inputs)

    def _split(self, gone: set[Node], found: Attention) -> None:
        begin = len(self.position)
        if found.gradient is not None:
            later = [n for n in gone if self.position[n] > self.position[found.output]]
            found.first = min(later, key=self.position.__getitem__)
            begin = self.position[found.first]
        found.forward = {n for n in gone if self.position[n] < begin}
        found.backward = gone - found.forward

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


# ---- softmax ----------------------------------------------------------------------------------


def is_softmax(node: Node) -> bool:
    """Whether the node may be one: the op, or the quotient of exponentials and their sum."""
    return node.type == "Softmax" or node.type == "RealDiv"


def _softmax(node: Node) -> tuple[set[Node], Edge]:
    """The nodes of a softmax, and its argument x: exp(x - max(x)) / sum(exp(x - max(x)))."""
    if node.type == "Softmax":
        return {node}, node.inputs[0]
    exp, total = (origin(edge)[0] for edge in node.inputs)
    _require(exp.type == "Exp" and _is_over_last_axis(total, "Sum"))
    _require(origin(total.inputs[0])[0] is exp)
    difference = origin(exp.inputs[0])[0]
    _require(difference.definition.infix == "-")
    most = origin(difference.inputs[1])[0]
    _require(_is_over_last_axis(most, "Max"))
    _require(origin(most.inputs[0]) == origin(difference.inputs[0]))
    return {node, exp, total, difference, most}, difference.inputs[0]


def _is_over_last_axis(node: Node, kind: str) -> bool:
    if node.type != kind or not node.attrs["keep_dims"] or node.dims[0] is None:
        return False
    axis = is_scalar(origin(node.inputs[1])[0])
    return axis in (-1, len(node.dims[0]) - 1)


def _only_groups(control: Node, nodes: set[Node]) -> bool:
    """Whether the node does nothing but wait for some of `nodes`."""
    return control.type == "NoOp" and all(
        c in nodes or _only_groups(c, nodes) for c in control.controls
    )
