"""Switch, Merge, Enter, Exit ... -> `_While` and `_If` nodes that hold whole subgraphs.

TensorFlow's loops and conditionals have a fixed form, and so have the gradients of them. Where a
graph has that form it is folded into structured nodes, innermost first, which run faster and can be
compiled whole. What does not fit, or has to wait in the middle, stays as it is (partly.py): then
the executor runs its nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.graph.kernel_call import flat_args
from weft.graph.op_def import OpDef
from weft.passes.client_graph import ClientGraph, Edge, Node
from weft.passes.prune import ARG

WHILE = OpDef(
    "_While", "input: list(Tin)", "output: list(Tout)", "Tin: list(type), Tout: list(type)"
)
# The same, of a body that may have to wait.
WAITING_WHILE = OpDef(
    "_While", "input: list(Tin)", "output: list(Tout)", "Tin: list(type), Tout: list(type)"
)
WAITING_WHILE.blocking = True
IF = OpDef("_If", "input: list(Tin)", "output: list(Tout)", "Tin: list(type), Tout: list(type)")


def subgraphs(node: Node) -> list[ClientGraph]:
    """The graphs a structured node holds."""
    return [node.attrs[key] for key in ("cond", "body", "then", "else") if key in node.attrs]


class Misfit(Exception):
    """The graph does not have the form TensorFlow gives its loops and conditionals."""


def structure(graph: ClientGraph) -> bool:
    """Folds the control flow of `graph` in place; False if some of it resists."""
    if not any(n.definition.control_flow for n in graph.nodes):
        return True
    if not any(waits(n) for n in graph.nodes):
        copy = copied(graph)
        try:
            _fold_loops(copy)
            _fold_branches(copy)
        except Misfit:
            pass
        else:
            replace_by(graph, copy)
            return not spread_out(graph)
    from weft.passes.partly import fold_what_fits

    fold_what_fits(graph)
    return not spread_out(graph)


def spread_out(graph: ClientGraph) -> bool:
    """Whether loops or branches are still nodes among others."""
    return any(n.definition.control_flow not in (None, "trigger") for n in graph.nodes)


def replace_by(graph: ClientGraph, copy: ClientGraph) -> None:
    graph.nodes, graph.feeds = copy.nodes, copy.feeds
    graph.fetches, graph.targets = copy.fetches, copy.targets


def waits(node: Node) -> bool:
    """Whether the executor must run a node by itself. Transfers outside of loops and branches are
    there before or after these run."""
    if node.definition.transfer is not None:
        return "_may_be_dead" in node.attrs
    return node.definition.blocking


def copied(graph: ClientGraph) -> ClientGraph:
    made = {n: clone(n) for n in graph.nodes}
    for old, new in made.items():
        new.inputs = [(made[s], i) for s, i in old.inputs]
        new.controls = [made[c] for c in old.controls]
    return ClientGraph(
        list(made.values()),
        [(made[n], i) for n, i in graph.feeds],
        [(made[n], i) for n, i in graph.fetches],
        [made[n] for n in graph.targets],
    )


def clone(n: Node) -> Node:
    return Node(
        n.name,
        n.definition,
        n.attrs,
        list(n.inputs),
        list(n.controls),
        n.dtypes,
        n.dims,
        n.op,
        n.device,
    )


def _arg(index: int, like: Edge, name: str) -> Node:
    node, i = like
    dtype = node.dtypes[i].base_dtype
    attrs = {"T": dtype, "index": index}
    return Node(f"{name}/arg_{index}", ARG, attrs, [], [], [dtype], [node.dims[i]], node.op)


def is_settled(node: Node) -> bool:
    """Constants and resource handles: the same in every frame, so any subgraph may have its own."""
    return not node.controls and (node.type == "Const" or node.definition.is_handle)


def _kind(node: Node) -> str | None:
    return node.definition.control_flow


def origin_of(edge: Edge) -> Edge:
    """The handle or constant an edge stems from through nodes that only pass values on."""
    seen = edge
    while seen[0].type in ("Identity", "Switch", "RefSwitch", "Enter", "RefEnter"):
        seen = seen[0].inputs[0]
    return seen if is_settled(seen[0]) else edge


# ---- subgraphs --------------------------------------------------------------------------------


class _Subgraph:
    """Collects what some edges need, up to given borders, as a graph of its own."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.args: dict[Edge, Node] = {}
        self.alias: dict[Edge, Edge] = {}
        self.made: dict[Node, Node] = {}
        self.nodes: list[Node] = []

    def add_arg(self, edge: Edge) -> Node:
        if edge not in self.args:
            self.args[edge] = _arg(len(self.args), edge, self.name)
        return self.args[edge]

    def build(
        self, inside: set[Node], fetches: list[Edge], targets: list[Node], order: list[Node]
    ) -> ClientGraph:
        """`inside`: nodes that may be copied in. Edges from elsewhere must be args or settled."""
        needed = self._needed(inside, [e[0] for e in map(self._final, fetches)] + targets)
        for node in order:
            if node in needed:
                self.made[node] = clone(node)
        for old, new in list(self.made.items()):
            new.inputs = [self._edge(e) for e in old.inputs]
            new.controls = [self.made[c] for c in old.controls if c in self.made]
        outs = [self._edge(e) for e in fetches]
        nodes = [*self.args.values(), *self.nodes, *(self.made[n] for n in order if n in needed)]
        feeds = [(a, 0) for a in self.args.values()]
        return ClientGraph(nodes, feeds, outs, [self.made[t] for t in targets])

    def _final(self, edge: Edge) -> Edge:
        while edge in self.alias:
            edge = self.alias[edge]
        return edge

    def _needed(self, inside: set[Node], roots: list[Node]) -> set[Node]:
        needed: set[Node] = set()
        stack = [r for r in roots if r in inside]
        while stack:
            node = stack.pop()
            if node in needed:
                continue
            needed.add(node)
            for edge in node.inputs:
                source = self._final(edge)
                if source not in self.args and source[0] in inside:
                    stack.append(source[0])
            stack.extend(c for c in node.controls if c in inside)
        return needed

    def _edge(self, edge: Edge) -> Edge:
        edge = self._final(edge)
        if edge in self.args:
            return self.args[edge], 0
        node, i = edge
        if node in self.made:
            return self.made[node], i
        if is_settled(node):
            self.made[node] = clone(node)
            self.nodes.append(self.made[node])
            return self.made[node], i
        origin = origin_of(edge)
        if origin != edge:
            return self._edge(origin)
        raise Misfit(f"{self.name} uses {node.name} from outside")


# ---- loops ------------------------------------------------------------------------------------


class Frame:
    def __init__(self, name: str, parent: Frame | None) -> None:
        self.name, self.parent = name, parent
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.nodes: list[Node] = []


def frames_of(graph: ClientGraph) -> list[Frame]:
    """Frames with their nodes, innermost first; Enter nodes belong to the frame they open."""
    parents: dict[str, str] = {}
    while True:
        root = Frame("", None)
        by_name: dict[str, Frame] = {}
        frame_of: dict[Node, Frame] = {}
        found: dict[str, str] = dict(parents)
        for node in graph.nodes:
            sources = [n for n, _ in node.inputs if not is_settled(n)] + node.controls
            known = [_after(n, frame_of) for n in sources if n in frame_of]
            frame = max(known, key=lambda f: f.depth, default=root)
            if _kind(node) == "enter":
                name = node.attrs["frame_name"]
                if name not in by_name:
                    outer = by_name.get(parents.get(name, ""), root)
                    by_name[name] = Frame(name, frame if frame.depth > outer.depth else outer)
                elif frame.depth > by_name[name].depth - 1:
                    found[name] = frame.name  # an Enter of a constant could not tell
                frame = by_name[name]
            frame_of[node] = frame
            frame.nodes.append(node)
        if found == parents:
            return sorted(by_name.values(), key=lambda f: -f.depth)
        parents = found


def _after(node: Node, frame_of: dict[Node, Frame]) -> Frame:
    frame = frame_of[node]
    if _kind(node) != "exit":
        return frame
    if frame.parent is None:
        raise Misfit(f"exit {node.name} outside of any loop")
    return frame.parent


def _fold_loops(graph: ClientGraph) -> None:
    frames = frames_of(graph)
    for frame in frames:
        loop = fold_loop(graph, frame)
        assert frame.parent is not None
        frame.parent.nodes.append(loop)


def fold_loop(graph: ClientGraph, frame: Frame) -> Node:
    """Replaces the nodes of one frame by a `_While` node."""
    order = [n for n in frame.nodes]
    here = set(order)
    enters = [n for n in order if _kind(n) == "enter"]
    merges = [n for n in order if _kind(n) == "merge" and _is_loop_merge(n)]
    conds = [n for n in order if _kind(n) == "loop_cond"]
    exits = [n for n in order if _kind(n) == "exit"]
    if len(conds) != 1:
        raise Misfit(f"loop {frame.name} has {len(conds)} conditions")
    if any(m.dtypes[0]._is_ref_dtype for m in merges):
        raise Misfit(f"loop {frame.name} hands on references")
    loop_cond = conds[0]
    switches = {
        n.inputs[0]: n for n in order if _kind(n) == "switch" and n.inputs[1] == (loop_cond, 0)
    }
    initial = [_side(m, "enter") for m in merges]
    following = [_side(m, "next_iteration") for m in merges]
    invariants = [e for e in enters if e not in initial]
    if any(not e.attrs.get("is_constant") for e in invariants):
        raise Misfit(f"loop {frame.name}: an Enter feeds no merge")
    skeleton = {*enters, *merges, *following, *exits, *switches.values(), loop_cond}
    inside = here - skeleton
    body_side = _depends(order, {s for s in switches.values()}, inside)
    condition, body = _Subgraph(f"{frame.name}/cond"), _Subgraph(f"{frame.name}/body")
    for part in (condition, body):
        for merge in merges:
            part.add_arg((merge, 0))
        for enter in invariants:
            if is_settled(origin_of((enter, 0))[0]):
                part.alias[enter, 0] = origin_of((enter, 0))
            else:
                part.add_arg((enter, 0))
    for merge, switch in ((m, switches.get((m, 0))) for m in merges):
        if switch is not None:
            body.alias[switch, 1] = (merge, 0)
    stateful = [n for n in order if n in inside and has_effect(n)]
    cond_graph = condition.build(
        inside, [loop_cond.inputs[0]], [n for n in stateful if n not in body_side], order
    )
    body_graph = body.build(
        inside, [n.inputs[0] for n in following], [n for n in stateful if n in body_side], order
    )
    if any(n in condition.made and n in body.made for n in stateful):
        raise Misfit(f"loop {frame.name}: what happens once would happen twice")
    for sub in (cond_graph, body_graph):
        _fold_branches(sub)
    definition = WAITING_WHILE if any(waits(n) for n in inside) else WHILE
    if any(waits(n) for n in _inside_branches(body_graph)) or any(map(waits, cond_graph.nodes)):
        raise Misfit(f"loop {frame.name} waits in a branch or in its condition")
    moving = [e for e in invariants if (e, 0) in condition.args]
    inputs = [e.inputs[0] for e in [*initial, *moving]]
    dims = [m.dims[0] for m in merges]
    node = Node(
        frame.name, definition,
        {"cond": cond_graph, "body": body_graph, "vars": len(merges), "Tin": inputs}, inputs,
        _outside_controls(enters, here), [m.dtypes[0].base_dtype for m in merges], dims,
        loop_cond.op, loop_cond.device,
    )  # fmt: skip
    by_switch = {switches[m, 0]: i for i, m in enumerate(merges) if (m, 0) in switches}
    old: dict[Edge, Edge] = {}
    for leave in exits:
        source, side = leave.inputs[0]
        while source.type == "Identity" and source in here:
            source, side = source.inputs[0]  # as `minimize` puts around a gradient
        if side != 0 or source not in by_switch:
            raise Misfit(f"exit {leave.name} does not leave by a loop variable")
        old[leave, 0] = node, by_switch[source]
        node.dims[by_switch[source]] = leave.dims[0]
    _replace_nodes(graph, here, node, old)
    return node


def _inside_branches(graph: ClientGraph) -> list[Node]:
    found: list[Node] = []
    for node in graph.nodes:
        for inner in subgraphs(node) if node.type == "_If" else ():
            found += [*inner.nodes, *_inside_branches(inner)]
    return found


def _is_loop_merge(node: Node) -> bool:
    return any(_kind(n) == "next_iteration" for n, _ in node.inputs)


def _side(merge: Node, kind: str) -> Node:
    found = [n for n, _ in merge.inputs if _kind(n) == kind]
    if len(found) != 1 or len(merge.inputs) != 2:
        raise Misfit(f"merge {merge.name} is not a loop variable")
    return found[0]


def _depends(order: list[Node], on: set[Node], inside: set[Node]) -> set[Node]:
    """Nodes of `inside` that need a node of `on`."""
    found: set[Node] = set()
    for node in order:
        if node in inside:
            sources = [n for n, _ in node.inputs] + node.controls
            if any(s in on or s in found for s in sources):
                found.add(node)
    return found


def has_effect(node: Node) -> bool:
    return node.definition.stateful or node.attrs.get("effect", False)


def _outside_controls(nodes: list[Node], here: set[Node]) -> list[Node]:
    return list(dict.fromkeys(c for n in nodes for c in n.controls if c not in here))


def _replace_nodes(graph: ClientGraph, gone: set[Node], new: Node, old: dict[Edge, Edge]) -> None:
    """Puts `new` in the place of `gone`: edges by `old`, control edges from any of it."""
    new.attrs["effect"] = any(has_effect(n) for inner in subgraphs(new) for n in inner.nodes)
    used = [e for n in graph.nodes if n not in gone for e in n.inputs]
    for edge in [*graph.fetches, *used]:
        if edge[0] in gone and edge not in old:
            raise Misfit(f"the inside of a loop or branch is used: {edge[0].name}")
    graph.targets = list(dict.fromkeys(new if t in gone else t for t in graph.targets))
    nodes: list[Node] = []
    left = len(gone & set(graph.nodes))
    for node in graph.nodes:
        if node in gone:
            left -= 1
            if not left:
                nodes.append(new)
            continue
        nodes.append(node)
    graph.nodes = nodes
    for node in nodes:
        if node is new:
            continue
        if any(e[0] in gone for e in node.inputs):
            node.inputs = [old.get(e, e) for e in node.inputs]
        if any(c in gone for c in node.controls):
            kept = [new if c in gone else c for c in node.controls]
            node.controls = list(dict.fromkeys(kept))
    graph.fetches = [old.get(e, e) for e in graph.fetches]
    graph.nodes = topological(graph.nodes)


def topological(nodes: list[Node], after: dict[Node, list[Node]] | None = None) -> list[Node]:
    """Topological order, keeping the given one where it can. `after`: further edges."""
    inside = set(nodes)
    order: list[Node] = []
    state: set[Node] = set()
    for root in nodes:
        stack = [(root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
                continue
            if node in state:
                continue
            state.add(node)
            stack.append((node, True))
            sources = [s for s, _ in node.inputs] + node.controls
            if _kind(node) == "merge":
                sources = [s for s in sources if _kind(s) != "next_iteration"]
            sources += after.get(node, ()) if after else ()
            stack.extend((s, False) for s in reversed(sources) if s in inside and s not in state)
    return order


# ---- conditionals -----------------------------------------------------------------------------

Context = frozenset[tuple[Edge, int]]


def _fold_branches(graph: ClientGraph) -> None:
    while True:
        switches = [n for n in graph.nodes if _kind(n) == "switch"]
        if not switches:
            break
        contexts = contexts_of(graph)
        deepest = max(switches, key=lambda s: len(contexts[s]))
        fold_predicate(graph, predicate_of(deepest), contexts)
        if sum(_kind(n) == "switch" for n in graph.nodes) >= len(switches):
            raise Misfit(f"switch {deepest.name} stays")
    for node in graph.nodes:
        if node.type == "Const":
            node.controls = [c for c in node.controls if not _is_pivot(c)]


def _is_pivot(node: Node) -> bool:
    """Whether a node only ties others to the branch or frame that is now a graph of its own."""
    return node.type == "_Arg" or (node.type == "Identity" and node.inputs[0][0].type == "_Arg")


def predicate_of(switch: Node) -> Edge:
    """What a switch decides by: Identity nodes on the way make no difference."""
    edge = switch.inputs[1]
    while edge[0].type == "Identity" and not edge[0].controls:
        edge = edge[0].inputs[0]
    return edge


def contexts_of(graph: ClientGraph) -> dict[Node, Context]:
    """For each node, which sides of which predicates it needs."""
    found: dict[Node, Context] = {}
    for node in graph.nodes:
        sides = [_edge_context(e, found) for e in node.inputs]
        if _kind(node) == "merge":
            found[node] = frozenset.intersection(*sides)
            continue
        context: Context = frozenset().union(*sides)
        for control in node.controls:
            context |= found.get(control, frozenset())
        found[node] = context
    return found


def _edge_context(edge: Edge, found: dict[Node, Context]) -> Context:
    node, i = edge
    context = found.get(node, frozenset())
    if _kind(node) == "switch":
        context |= {(predicate_of(node), i)}
    return context


def fold_predicate(graph: ClientGraph, predicate: Edge, contexts: dict[Node, Context]) -> None:
    """Replaces everything decided by `predicate` by `_If` nodes, one after another."""
    sides = ((predicate, 0), (predicate, 1))
    branch = {n: b for n in graph.nodes for b in (0, 1) if sides[b] in contexts[n]}
    if any(all(s in contexts[n] for s in sides) for n in graph.nodes):
        raise Misfit(f"a node needs both sides of {predicate[0].name}")
    switches = {n for n in graph.nodes if _kind(n) == "switch" and predicate_of(n) == predicate}
    merges = {n for n in graph.nodes if _kind(n) == "merge" and _joins(n, sides, contexts)}
    index = _levels(graph, branch, switches, merges)
    _move_to_users(graph, switches, index)
    for level in sorted({index[n] for n in [*branch, *merges, *switches]}):
        _fold_level(graph, predicate, level, branch, switches, merges, index)


def _joins(merge: Node, sides: tuple[tuple[Edge, int], ...], contexts: dict[Node, Context]) -> bool:
    inner = [_edge_context(e, contexts) for e in merge.inputs]
    used = [side in context for context in inner for side in sides if side in context]
    if not used:
        return False
    if len(inner) != 2 or inner[0] ^ inner[1] != frozenset(sides):
        if all(any(s in c for s in sides) for c in inner) and inner[0] == inner[1]:
            return False
        raise Misfit(f"merge {merge.name} joins more than two sides")
    return True


def _levels(
    graph: ClientGraph, branch: dict[Node, int], switches: set[Node], merges: set[Node]
) -> dict[Node, int]:
    """Which of the successive conditionals on one predicate each node belongs to.

    A gradient decides by the predicate of its forward pass, and needs its results first.
    """
    index: dict[Node, int] = {}
    for node in graph.nodes:
        level = 0
        for source in [n for n, _ in node.inputs] + node.controls:
            before = index.get(source, 0)
            inside = source in branch and source not in merges
            outside_now = node not in branch and node not in merges
            if source in merges or (inside and outside_now and source not in switches):
                before += 1
            level = max(level, before)
        index[node] = level
    return index


def _move_to_users(graph: ClientGraph, switches: set[Node], index: dict[Node, int]) -> None:
    """A switch goes to the first conditional that uses it, so that no earlier one hands it on.

    Most hand on variables: each conditional then reads its own, when it runs.
    """
    first: dict[Node, int] = {}
    for node in reversed(graph.nodes):
        if node in switches and node in first:
            index[node] = max(index[node], first[node])
        for source in [n for n, _ in node.inputs] + node.controls:
            if source in switches:
                first[source] = min(first.get(source, index[node]), index[node])


@dataclass
class _Level:
    """One of the successive conditionals on a predicate: what goes into its `_If` node."""

    order: list[Node]
    inner: set[Node]  # nodes of either branch
    joined: list[Node]  # the merges that end it
    taken: set[Node]  # the switches that begin it
    exports: list[Edge]  # values of a branch that later conditionals on the predicate use
    branch: dict[Node, int]
    predicate: Edge

    @property
    def gone(self) -> set[Node]:
        return self.inner | set(self.joined) | self.taken

    def captured(self) -> list[Edge]:
        """What the branches need from outside: through switches, or directly."""
        found: dict[Edge, None] = {}
        for node in [n for n in self.order if n in self.inner] + self.joined:
            for edge in node.inputs:
                switched = edge[0] in self.taken
                source = self._switched(edge)
                if source[0] not in self.gone and (switched or not is_settled(source[0])):
                    found[source] = None
        for edge in self.exports:
            if edge[0] in self.taken:
                found[self._switched(edge)] = None
        return list(found)

    def _switched(self, edge: Edge) -> Edge:
        """What goes into the switches that `edge` comes out of."""
        while edge[0] in self.taken:
            edge = edge[0].inputs[0]
        return edge

    def side_graph(
        self, name: str, side: int, captured: list[Edge]
    ) -> tuple[_Subgraph, ClientGraph]:
        part = _Subgraph(f"{name}/{'then' if side else 'else'}")
        for edge in captured:
            origin = origin_of(edge)
            if not is_settled(origin[0]):
                part.add_arg(edge)
            elif origin != edge:
                part.alias[edge] = origin
        for switch in self.taken:
            part.alias[switch, side] = switch.inputs[0]
        wanted = [_from_side(m, side, self.branch, self.taken, self.predicate) for m in self.joined]
        wanted += [e for e in self.exports if self.side_of(e) == side]
        own = {n for n in self.inner if self.branch[n] == side}
        effects = [n for n in self.order if n in own and has_effect(n)]
        return part, part.build(own, wanted, effects, self.order)

    def side_of(self, edge: Edge) -> int:
        return edge[1] if edge[0] in self.taken else self.branch[edge[0]]


def _fold_level(
    graph: ClientGraph,
    predicate: Edge,
    level: int,
    branch: dict[Node, int],
    switches: set[Node],
    merges: set[Node],
    index: dict[Node, int],
) -> None:
    order = [n for n in graph.nodes if index.get(n) == level]
    here = _Level(
        order,
        {n for n in order if n in branch and n not in switches},
        [n for n in order if n in merges],
        {n for n in order if n in switches},
        [],
        branch,
        predicate,
    )
    gone = here.gone
    if not gone:
        return
    used = dict.fromkeys(e for n in graph.nodes if n not in gone for e in n.inputs)
    if any((m, 1) in used for m in here.joined):
        raise Misfit("the index of a merge is used")
    if any(m.dtypes[0]._is_ref_dtype and _wants_reference(graph, m) for m in here.joined):
        raise Misfit("a merged reference is used as one")
    here.exports = [e for e in used if e[0] in here.inner or e[0] in here.taken]
    for user in graph.nodes:
        if user not in gone and any(c in here.taken for c in user.controls):
            user.controls = _before_switches(user.controls, here.taken)
    node = _if_node(predicate, level, here)
    outputs = [(m, 0) for m in here.joined] + here.exports
    _replace_nodes(graph, gone, node, {edge: (node, i) for i, edge in enumerate(outputs)})
    for n in gone:
        branch.pop(n, None)
        switches.discard(n)
        merges.discard(n)
    # The new node is what later conditionals see; it stands outside of this predicate's branches.
    index[node] = level


def _wants_reference(graph: ClientGraph, merge: Node) -> bool:
    """Whether anybody changes, or hands on, the variable that a merge has chosen."""
    users = [n for n in graph.nodes if (merge, 0) in n.inputs]
    return any(
        arg.is_ref
        for n in users
        for arg, edge in zip(flat_args(n.definition, n.attrs), n.inputs, strict=True)
        if edge == (merge, 0)
    )


def _before_switches(controls: list[Node], switches: set[Node]) -> list[Node]:
    """A switch is done as soon as it has its inputs, whichever branch is taken."""
    found: dict[Node, None] = {}
    stack = list(reversed(controls))
    while stack:
        node = stack.pop()
        if node in switches:
            stack += [source for source, _ in node.inputs] + node.controls
        else:
            found[node] = None
    return list(found)


def _if_node(predicate: Edge, level: int, here: _Level) -> Node:
    name = f"{predicate[0].name}/if" + (f"_{level}" if level else "")
    captured = here.captured()
    (part, otherwise), (_, then) = (here.side_graph(name, side, captured) for side in (0, 1))
    inputs = [predicate, *(e for e in captured if e in part.args)]
    outputs = [(m, 0) for m in here.joined] + here.exports
    attrs = {
        "else": otherwise,
        "then": then,
        "joined": len(here.joined),
        "export_sides": [here.side_of(e) for e in here.exports],
        "Tin": inputs,
    }
    controls = _outside_controls([n for n in here.order if n in here.gone], here.gone)
    return Node(
        name,
        IF,
        attrs,
        inputs,
        controls,
        [n.dtypes[i].base_dtype for n, i in outputs],
        [n.dims[i] for n, i in outputs],
        predicate[0].op,
        predicate[0].device,
    )


def _from_side(
    merge: Node, side: int, branch: dict[Node, int], taken: set[Node], predicate: Edge
) -> Edge:
    for edge in merge.inputs:
        if (edge[0] in taken and edge[1] == side) or branch.get(edge[0]) == side:
            return edge
        if _exported_side(edge, predicate) == side:
            return edge
    raise Misfit(f"merge {merge.name} lacks a side")


def _exported_side(edge: Edge, predicate: Edge) -> int | None:
    """Which branch of an earlier conditional a value comes from that it hands on to later ones."""
    node, i = edge
    if node.type != "_If" or node.inputs[0] != predicate or i < node.attrs["joined"]:
        return None
    side: int = node.attrs["export_sides"][i - node.attrs["joined"]]
    return side
