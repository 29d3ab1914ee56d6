"""tf.contrib.grid_rnn: recurrent cells along several dimensions at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from weft.core.shapes import dimension_value
from weft.graph.tensor import Tensor
from weft.lib.contrib.layers.dense import fully_connected
from weft.lib.contrib.layers.initializers import xavier_initializer
from weft.lib.platform import tf_logging as logging
from weft.lib.rnn.basic_cells import BasicLSTMCell, BasicRNNCell, GRUCell, LSTMCell
from weft.lib.rnn.cells import RNNCell
from weft.ops.array import fill, slicing
from weft.ops.array.join import concat
from weft.ops.array.split import split
from weft.ops.math.matmul import matmul
from weft.ops.nn.activations import relu
from weft.ops.state.get_variable import get_variable, get_variable_scope
from weft.ops.state.variable_scope import variable_scope

__all__ = [
    "Grid1BasicLSTMCell", "Grid1BasicRNNCell", "Grid1LSTMCell", "Grid2BasicLSTMCell",
    "Grid2BasicRNNCell", "Grid2GRUCell", "Grid2LSTMCell", "Grid3LSTMCell", "GridRNNCell",
]  # fmt: skip


def _dimensions(given: Any, count: int) -> list[int]:
    """Numbers of dimensions as a sorted list."""
    listed = given if isinstance(given, list | tuple) else [] if given is None else [given]
    found = sorted(set(listed))
    if found and not 0 <= found[0] <= found[-1] < count:
        raise ValueError(f"Invalid dims: {found}. Must be in [0, {count})")
    return found


class _Hidden:
    """Outputs and memories of every dimension: those before the step, and those of it."""

    def __init__(self, count: int) -> None:
        self.memory: list[Any] = [None] * count
        self.before: list[Any] = [None] * count
        self.now: list[Any] = [None] * count
        self.state: list[Any] = [None] * count

    def latest(self) -> list[Any]:
        """The output of each dimension, of this step where it is computed already."""
        pairs = zip(self.now, self.before, strict=True)
        return [old if new is None else new for new, old in pairs]


class GridRNNCell(RNNCell):
    """A cell with a recurrent unit for each of its dimensions, which all see each other's outputs.

    Dimensions of priority come last, so that they see the others' new outputs. Dimensions that are
    not recurrent are dense layers. `tied` dimensions share their weights.
    """

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: Any = None,
        output_dims: Any = None,
        priority_dims: Any = None,
        non_recurrent_dims: Any = None,
        tied: bool = False,
        cell_fn: Callable[[int], RNNCell] | None = None,
        non_recurrent_fn: Any = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        for what, is_tuple in (("state", state_is_tuple), ("output", output_is_tuple)):
            if not is_tuple:
                said = f"Using a concatenated {what} is slower and will soon be deprecated."
                logging.warning("%s: %s  Use %s_is_tuple=True.", self, said, what)
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        self._units, self._count, self._tied = num_units, num_dims, tied
        self._inputs, self._outputs, self._last, flat = (
            _dimensions(each, num_dims)
            for each in (input_dims, output_dims, priority_dims, non_recurrent_dims)
        )
        self._recurrent = [i for i in range(num_dims) if i not in flat]
        self._activation = non_recurrent_fn or relu
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple
        make = cell_fn or (lambda units: LSTMCell(units, state_is_tuple=state_is_tuple))
        cells = [make(num_units) for _ in range(1 if tied else num_dims)]
        self._cells = cells * num_dims if tied else cells
        if not isinstance(self._cells[0], RNNCell):
            kind = type(self._cells[0])
            raise TypeError(f"cell_fn must return an RNNCell instance, saw: {kind}")

    @property
    def _cell_state_size(self) -> int:
        size = self._cells[0].state_size
        return sum(size) if isinstance(size, tuple) else size

    @property
    def output_size(self) -> Any:
        size = self._cells[0].output_size
        return (size,) * len(self._outputs) if self._output_is_tuple else size * len(self._outputs)

    @property
    def state_size(self) -> Any:
        if self._state_is_tuple:
            return (self._cells[0].state_size,) * len(self._recurrent)
        return self._cell_state_size * len(self._recurrent)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> tuple[Any, Any]:
        """One step along every dimension."""
        hidden = _Hidden(self._count)
        self._take_state(state, hidden)
        with variable_scope(scope or type(self).__name__):
            self._take_inputs(inputs, hidden)
            first = [i for i in range(self._count) if i not in self._last]
            seen: set[str] = set()
            for group in filter(None, (first, self._last)):
                self._step(group, hidden, seen)
            outputs: Any = tuple(hidden.now[i] for i in self._outputs)
            states: Any = tuple(hidden.state[i] for i in self._recurrent)
            if not self._output_is_tuple:
                outputs = _joined(outputs, inputs.dtype)
            if not self._state_is_tuple:
                states = _joined([part for each in states for part in each], inputs.dtype)
        return outputs, states

    def _take_state(self, state: Any, hidden: _Hidden) -> None:
        """Splits a state into the memory and the output of each recurrent dimension."""
        if self._state_is_tuple and len(self._recurrent) != len(state):
            raise ValueError(f"Expected state as a tuple of {len(self._recurrent)} element")
        size = self._cell_state_size
        sizes = [self._units] if size == self._units else [self._units, size - self._units]
        for place, i in enumerate(self._recurrent):
            if self._state_is_tuple:
                parts = [state[place]] if len(sizes) == 1 else state[place]
            else:
                starts = (place * size, place * size + self._units)
                parts = [slicing.slice(state, [0, start], [-1, width])
                         for start, width in zip(starts, sizes, strict=False)]  # fmt: skip
            *memory, hidden.before[i] = parts
            hidden.memory[i] = memory[0] if memory else None

    def _take_inputs(self, inputs: Any, hidden: _Hidden) -> None:
        """Projects the inputs to what their dimensions had before the step."""
        if inputs is None or not self._inputs or not dimension_value(inputs.shape.with_rank(2)[1]):
            return
        parts = split(value=inputs, num_or_size_splits=len(self._inputs), axis=1)
        shape = [dimension_value(parts[0].shape.with_rank(2)[1]), self._units]
        targets = {"m": hidden.before}
        if self._cell_state_size > self._units:
            targets["c"] = hidden.memory
        for part, i in zip(parts, self._inputs, strict=True):
            for letter, target in targets.items():
                weights = get_variable(f"project_{letter}_{i}", shape, dtype=inputs.dtype)
                target[i] = matmul(part, weights)

    def _step(self, group: list[int], hidden: _Hidden, seen: set[str]) -> None:
        """Steps along the dimensions of a group, which do not see each other's new outputs.

        The last dimension's output is a cell's state, the others are its inputs.
        """
        *others, last = hidden.latest()
        batch = last.get_shape().as_list()[0]
        inputs = concat(others, 1) if others else fill.zeros([batch, 0], last.dtype)
        for i in group:
            kind = "recurrent" if i in self._recurrent else "non_recurrent"
            with variable_scope(kind if self._tied else f"{kind}/cell_{i}"):
                if self._tied and seen:
                    get_variable_scope().reuse_variables()
                seen.add(kind)
                if i in self._recurrent:
                    memory = hidden.memory[i]
                    state = last if memory is None else (memory, last)
                    hidden.now[i], hidden.state[i] = self._cells[i](inputs, state)
                else:
                    hidden.now[i] = self._dense(concat([inputs, last], 1) if others else last)

    def _dense(self, inputs: Tensor) -> Tensor:
        scope = get_variable_scope()
        return fully_connected(
            inputs, self._units, self._activation, weights_regularizer=scope.regularizer,
            weights_initializer=scope.initializer or xavier_initializer(),
        )  # fmt: skip


def _joined(parts: Any, dtype: Any) -> Tensor:
    return concat(parts, 1) if parts else fill.zeros([0, 0], dtype)


def _grid(name: str, dimensions: int, make: Any, says: str, **options: Any) -> type[GridRNNCell]:
    """A class of grids whose first dimension takes inputs, gives outputs, and has priority."""
    several = {"tied": False, "non_recurrent_fn": None} if dimensions > 1 else {}
    defaults = {**several, **options, "state_is_tuple": True, "output_is_tuple": True}
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    first = inspect.Parameter("num_units", kind)
    others = [inspect.Parameter(each, kind, default=value) for each, value in defaults.items()]
    signature = inspect.Signature([first, *others])

    def __init__(self: GridRNNCell, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        of_cell = {each: given.pop(each) for each in options}
        flat = None if given.get("non_recurrent_fn") is None else 0
        GridRNNCell.__init__(
            self, **given, num_dims=dimensions, input_dims=0, output_dims=0, priority_dims=0,
            non_recurrent_dims=flat, cell_fn=lambda units: make(units, **of_cell),
        )  # fmt: skip

    members = {"__init__": __init__, "__doc__": says, "__module__": __name__}
    made = type(name, (GridRNNCell,), members)
    made.__signature__ = signature  # type: ignore[attr-defined]
    return made


_PEEPHOLES = {"use_peepholes": False, "forget_bias": 1.0}
Grid1BasicRNNCell = _grid("Grid1BasicRNNCell", 1, BasicRNNCell, "A plain cell.")
Grid2BasicRNNCell = _grid("Grid2BasicRNNCell", 2, BasicRNNCell, "Two plain cells.")
Grid1BasicLSTMCell = _grid(
    "Grid1BasicLSTMCell", 1, BasicLSTMCell, "A basic LSTM cell.", forget_bias=1
)
Grid2BasicLSTMCell = _grid(
    "Grid2BasicLSTMCell", 2, BasicLSTMCell, "Two basic LSTM cells.", forget_bias=1
)
Grid1LSTMCell = _grid("Grid1LSTMCell", 1, LSTMCell, "An LSTM cell.", **_PEEPHOLES)
Grid2LSTMCell = _grid("Grid2LSTMCell", 2, LSTMCell, "Two LSTM cells.", **_PEEPHOLES)
Grid3LSTMCell = _grid("Grid3LSTMCell", 3, LSTMCell, "Three LSTM cells.", **_PEEPHOLES)
Grid2GRUCell = _grid("Grid2GRUCell", 2, GRUCell, "Two gated recurrent units.")
