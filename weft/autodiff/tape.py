"""tf.GradientTape over a graph: it differentiates only what was added while it recorded.

Nothing is written down while it records but where in the graph that was; what came before, or in
between, is a constant to it, unless it is watched.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from weft.autodiff.between import is_trainable
from weft.autodiff.gradients import UnconnectedGradients, derivatives
from weft.core import nest
from weft.core.walk import reached
from weft.graph.graph import Graph, get_default_graph, name_scope
from weft.graph.operation import Operation
from weft.graph.tensor import Tensor
from weft.ops.array import array, gather
from weft.ops.functions.functional import map_fn
from weft.ops.kit.eager import EagerGraph
from weft.ops.math import sequence


class GradientTape:
    """Operations added inside of `with` can be differentiated by `gradient` and `jacobian`.

    What they read of trainable variables is watched unless `watch_accessed_variables` is False.

    Args:
        persistent: whether `gradient` may be called more than once.
        watch_accessed_variables: see above.

    Raises:
        RuntimeError: from `gradient`: it was called before, and the tape is not persistent.

    Example:
        >>> x = tf.constant(3.0)
        >>> with tf.GradientTape() as tape:
        ...     tape.watch(x)
        ...     y = x * x
        >>> session.run(tape.gradient(y, x))
        np.float32(6.0)
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent, self._watches_variables = persistent, watch_accessed_variables
        self._graph: Graph | None = None
        self._ops: list[Operation] = []  # of the graph, from its start or from that of recording
        # Numbers of operations: where a recording began, and ended if it has.
        self._recorded: list[list[int]] = []
        self._added: set[Operation] = set()  # operations of our own
        self._recording = self._is_used = False
        self._watched: dict[int, Any] = {}

    # ---- recording ----

    def __enter__(self) -> GradientTape:
        self._start()
        return self

    def __exit__(self, kind: Any, value: Any, traceback: Any) -> None:
        if self._recording:
            self._stop()

    def _start(self) -> None:
        if self._recording:
            raise ValueError("Tape is already recording.")
        graph = self._graph = self._graph or get_default_graph()
        if isinstance(graph, EagerGraph):
            self._start_eagerly(graph)
        self._ops = graph._ops
        self._recorded.append([len(self._ops)])
        self._recording = True

    def _start_eagerly(self, graph: EagerGraph) -> None:
        """The graph may have let go of what was recorded before a pause."""
        before = self._operations()
        graph.start_recording(self._orders)
        if graph._ops is not self._ops:
            self._added |= before
            self._recorded = []

    def _stop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        self._recorded[-1].append(len(self._ops))
        self._recording = False
        if isinstance(self._graph, EagerGraph):
            self._graph.stop_recording(self._orders)

    @property
    def _orders(self) -> int:
        """A persistent tape may differentiate its own gradients."""
        return 2 if self._persistent else 1

    def watch(self, tensor: Any) -> None:
        """Tensors or variables with respect to which there shall be gradients."""
        for each in nest.flatten(tensor):
            if not isinstance(each, Tensor) and not hasattr(each, "initializer"):
                raise ValueError(f"Passed in object of type {type(each)}, not tf.Tensor")
            if not each.dtype.is_floating:
                logging.getLogger("weft").warning(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r",
                    each.dtype,
                )
            self._watched[id(each)] = each

    @contextmanager
    def stop_recording(self) -> Iterator[None]:
        """A context whose operations are not differentiated."""
        if self._graph is None:
            raise RuntimeError("Trying to stop recording a tape which is not recording.")
        self._stop()
        try:
            yield
        finally:
            self._start()

    def reset(self) -> None:
        """Forgets all that was recorded and watched."""
        recording = self._recording
        if recording:
            self._stop()
        self._recorded, self._added, self._watched, self._graph = [], set(), {}, None
        self._recording = self._is_used = False
        if recording:
            self._start()

    def _operations(self) -> set[Operation]:
        if self._graph is None:
            return set()
        ops = self._ops
        cuts = [slice(begin, *(end or [len(ops)])) for begin, *end in self._recorded]
        found = {op for cut in cuts for op in ops[cut]}
        return found | self._added

    def watched_variables(self) -> tuple[Any, ...]:
        """The trainable variables that were read while it recorded, and those watched by name."""
        found = [v for v in self._watched.values() if not isinstance(v, Tensor)]
        if self._watches_variables and self._graph is not None:
            used = {t for op in self._operations() for t in op.inputs}
            found += [v for v in _trainable(self._graph) if self._inside(v) & used]
        return tuple({id(v): v for v in found}.values())

    def _inside(self, source: Any) -> set[Tensor]:
        """The tensors that stand for a source in the graph, which may be a function's."""
        assert self._graph is not None
        return {self._graph.stand_in(tensor) for tensor in _of(source)}

    # ---- differentiating ----

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
    ) -> Any:
        """The gradients of `target`, in the structure of `sources`; None where nothing leads."""
        if self._is_used or self._graph is None:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes."
            )
        targets = nest.flatten(target)
        weights = None if output_gradients is None else nest.flatten(output_gradients)
        found = self._gradients(targets, nest.flatten(sources), weights, unconnected_gradients)
        if not self._persistent:
            self._is_used = True
            if self._recording:
                self._stop()
        return nest.pack_sequence_as(sources, found)

    def _gradients(
        self, targets: list[Any], sources: list[Any], weights: Any, unconnected: Any
    ) -> list[Any]:
        recorded = self._operations()
        followed = [*self._watched.values(), *self.watched_variables()]
        watched = {_identity(v) for v in followed}
        mine = [
            s for s in sources
            if _identity(s) in watched or self._depends(s, followed, recorded)
        ]  # fmt: skip
        edges = {t for op in recorded for t in op.inputs if t.op not in recorded}
        constant = [t for t in edges if not any(t in self._inside(s) for s in [*mine, *sources])]
        known = [y for y in targets if y.op in recorded or _identity(y) in watched]
        made: dict[int, Any] = {}
        if mine and known:
            if weights is None:
                weights = [array.ones_like(y) if y.dtype.is_complex else None for y in known]
            else:
                weights = [w for w, y in zip(weights, targets, strict=True) if y in known]
            found = derivatives(
                known, mine, weights, stop_gradients=constant, unconnected_gradients=unconnected
            )
            made = {id(s): g for s, g in zip(mine, found, strict=True)}
        if UnconnectedGradients(unconnected) is UnconnectedGradients.ZERO:
            return [made[id(s)] if id(s) in made else array.zeros_like(s) for s in sources]
        return [made.get(id(s)) for s in sources]

    def _depends(self, source: Any, followed: list[Any], recorded: set[Operation]) -> bool:
        """Whether a source was made, while the tape recorded, of what it follows.

        Integers do not lead on, though they may have been made of such numbers.
        """
        if not isinstance(source, Tensor) or source.op not in recorded:
            return False
        known = set().union(*map(self._inside, followed))
        made = reached([source.op], lambda op: [t.op for t in _led(op) if t.op in recorded])
        return any(tensor in known for op in made for tensor in _led(op))

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivatives of each element of `target` by each of the sources."""
        flat_sources = nest.flatten(sources)
        with name_scope("Jacobian"), self._keeping():
            flat = array.reshape(target, [-1])
            self._added.add(flat.op)
            rows = self._rows(
                lambda i: gather.gather(flat, i), array.shape(flat)[0], flat_sources,
                unconnected_gradients, parallel_iterations,
            )  # fmt: skip
            shape = array.shape(target)
            found = [
                r if r is None else array.reshape(r, array.concat([shape, array.shape(s)], 0))
                for r, s in zip(rows, flat_sources, strict=True)
            ]
            for made, source in zip(found, flat_sources, strict=True):
                if made is not None:
                    made.set_shape(target.shape.concatenate(source.shape))
        self._use_up()
        return nest.pack_sequence_as(sources, found)

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """For each element of the batch, the derivatives of its target by its source."""
        if not target.shape.with_rank_at_least(2)[:1].is_compatible_with(
            source.shape.with_rank_at_least(2)[:1]
        ):
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape"
                f" ({source.shape}) to match."
            )
        with name_scope("BatchJacobian"), self._keeping():
            shape, size = array.shape(target), array.shape(target)[0]
            flat = array.reshape(target, array.stack([size, -1]))
            self._added.add(flat.op)
            (rows,) = self._rows(
                lambda i: gather.gather(flat, i, axis=1), array.shape(flat)[1], [source],
                unconnected_gradients, parallel_iterations,
            )  # fmt: skip
            self._use_up()
            if rows is None:
                return None
            rank = source.shape.ndims + 1
            turned = array.transpose(rows, [1, 0, *range(2, rank)])
            found = array.reshape(turned, array.concat([shape, array.shape(source)[1:]], 0))
            found.set_shape(target.shape.concatenate(source.shape[1:]))
        return found

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        """Operations added inside can be differentiated, whether or not the tape records."""
        if not isinstance(self._graph, EagerGraph):
            yield
            return
        self._graph.start_recording()
        try:
            yield
        finally:
            self._graph.stop_recording()

    def _use_up(self) -> None:
        if self._is_used or self._graph is None:
            raise RuntimeError(
                "GradientTape.gradient can only be called once on non-persistent tapes."
            )
        self._is_used = not self._persistent

    def _rows(
        self, part: Any, count: Any, sources: list[Any], unconnected: Any, parallel: int | None
    ) -> list[Any]:
        """The gradients of `part(0)`, `part(1)`, ... stacked, or None, for each source."""
        y = part(array.zeros([], "int32"))
        self._added.add(y.op)
        there = [g is not None for g in self._gradients([y], sources, None, unconnected)]
        connected = [s for s, is_there in zip(sources, there, strict=True) if is_there]
        if not connected:
            return [None] * len(sources)

        def row(i: Any) -> list[Any]:
            assert self._graph is not None
            before = len(self._graph._ops)
            y = part(i)
            self._added.update(self._graph._ops[before:])  # with what brings it into the loop
            return self._gradients([y], connected, None, unconnected)

        types = [s.dtype.base_dtype for s in connected]
        made = iter(map_fn(row, sequence.range(count), types, parallel or 10))
        return [next(made) if is_there else None for is_there in there]


def _identity(source: Any) -> int:
    """Several objects may stand for one variable; it has one handle."""
    handle = getattr(source, "handle", None)
    return id(source if handle is None else handle)


def _led(op: Operation) -> list[Tensor]:
    """The inputs through which a tape follows what is watched."""
    return [tensor for tensor in op.inputs if is_trainable(tensor.dtype)]


def _trainable(graph: Graph) -> list[Any]:
    outermost = graph
    while outermost.outer_graph is not None:
        outermost = outermost.outer_graph
    if isinstance(outermost, EagerGraph) and hasattr(outermost, "trainable"):
        return list(outermost.trainable.values())
    return graph.get_collection("trainable_variables")


def _of(source: Any) -> set[Tensor]:
    """The tensors by which operations read something: its value, or its handle."""
    if isinstance(source, Tensor):
        return {source}
    handle = getattr(source, "handle", None)
    if isinstance(handle, Tensor):
        return {handle}
    found = {source._ref()} if hasattr(source, "_ref") else set()
    value = source.value()
    return {*found, value} if isinstance(value, Tensor) else found
