"""Cells around cells: dropout, residual connections, devices, stacks."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.core.shapes import TensorShape
from weft.core.tracks import Tracks
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, device, name_scope
from weft.lib.layers.base import Layer
from weft.lib.platform import tf_logging as logging
from weft.lib.rnn.basic_cells import LSTMStateTuple
from weft.lib.rnn.cells import CellAround, RNNCell, assert_like_rnncell
from weft.ops.array import join as array_join
from weft.ops.array import slicing
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import unary
from weft.ops.math.math import div
from weft.ops.nn import activations as nn_impl
from weft.ops.random import random
from weft.ops.state import variable_scope as vs


class _Wrapper(CellAround):
    """A cell that calls another one in the scope it is called in: it has no scope of its own."""

    def __init__(self, cell: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    @property
    def wrapped_cell(self) -> Any:
        return self.cell

    @property
    def _cell_inside(self) -> Any:
        return self.cell

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        return self._call_wrapped_cell(inputs, state, self.cell.__call__, scope=scope)

    def _call_wrapped_cell(
        self, inputs: Any, state: Any, cell_call_fn: Callable[..., Any], **kwargs: Any
    ) -> Any:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        wrapped = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**super().get_config(), "cell": wrapped}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        config = dict(config)
        cell = config.pop("cell")
        try:
            assert_like_rnncell("cell", cell)
        except TypeError:
            raise ValueError(
                "RNNCellWrapper cannot reconstruct the wrapped cell. Please overwrite the cell in "
                "the config with a RNNCell instance."
            ) from None
        return cls(cell, **config)


# ---- dropout ----------------------------------------------------------------------------------


def _drop_all_but_memory(substate: Any) -> Any:
    """The parts of a state that dropout applies to: everything but the memory of an LSTM."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not isinstance(substate, TensorArray)


def _numbered_map(shallow: Any, function: Callable[..., Any], *structures: Any) -> Any:
    """`map_structure_up_to`, with the number of each leaf as first argument."""
    number = iter(range(len(nest.flatten(structures[0]))))
    return nest.map_structure_up_to(
        shallow, lambda *leaves: function(next(number), *leaves), *structures
    )


class DropoutWrapper(_Wrapper):
    """Dropout on the inputs, outputs and state of a cell; the memory of an LSTM is spared.

    With `variational_recurrent`, what is dropped is chosen once for all steps of a run.

    Args:
        cell: the cell to wrap.
        input_keep_prob, output_keep_prob, state_keep_prob: the fraction that is kept of each.
        variational_recurrent: see above.
        input_size, dtype: of the inputs, needed with `variational_recurrent`.
        seed: makes the choice repeatable.
        dropout_state_filter_visitor: tells which parts of the state to drop from.
        **kwargs: further arguments of layers.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: a probability is not between 0 and 1.

    Example:
        >>> cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(4), output_keep_prob=0.5)
        >>> cell.output_size
        4
    """

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Callable[..., Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _drop_all_but_memory
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability("input_keep_prob", input_keep_prob)
            self._state_keep_prob = _probability("state_keep_prob", state_keep_prob)
            self._output_keep_prob = _probability("output_keep_prob", output_keep_prob)
        self._variational_recurrent = variational_recurrent
        self._input_size, self._seed = input_size, seed
        self._recurrent_input_noise: Any = None
        self._recurrent_state_noise: Any = None
        self._recurrent_output_noise: Any = None
        if variational_recurrent:
            self._draw_noise(dtype)

    def _draw_noise(self, dtype: Any) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def noise(salt: str, sizes: Any) -> Any:
            def draw(i: int, size: Any) -> Tensor:
                shape = array_join.concat(([1], TensorShape(size).as_list()), 0)
                return random.random_uniform(shape, seed=self._gen_seed(salt, i), dtype=dtype)

            return _numbered_map(sizes, draw, sizes)

        keep = self._input_keep_prob
        if not isinstance(keep, numbers.Real) or keep < 1.0:
            if self._input_size is None:
                raise ValueError(
                    "When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, "
                    "input_size must be provided"
                )
            self._recurrent_input_noise = noise("input", self._input_size)
        self._recurrent_state_noise = noise("state", self.cell.state_size)
        self._recurrent_output_noise = noise("output", self.cell.output_size)

    def _gen_seed(self, salt_prefix: str, index: int) -> int | None:
        """A seed for each place of dropout, made from the one given."""
        if self._seed is None:
            return None
        text = f"{self._seed}{salt_prefix}_{index}"
        return int(hashlib.md5(text.encode()).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropout(
        self, values: Any, salt_prefix: str, noise: Any, keep_prob: Any, where: Any = None
    ) -> Any:
        """Dropout of every leaf of `values` for which `where` (by default everything) holds."""
        where = values if where is None else where

        def fresh(i: int, chosen: Any, value: Any) -> Any:
            if isinstance(chosen, bool) and not chosen:
                return value
            return nn_impl.dropout(value, rate=1.0 - keep_prob, seed=self._gen_seed(salt_prefix, i))

        def kept(_: int, chosen: Any, value: Any, drawn: Any) -> Any:
            if isinstance(chosen, bool) and not chosen:
                return value
            mask = unary.floor(keep_prob + drawn)
            dropped = div(value, keep_prob) * mask
            dropped.set_shape(value.shape)
            return dropped

        if self._variational_recurrent:
            return _numbered_map(where, kept, where, values, noise)
        return _numbered_map(where, fresh, where, values)

    def _call_wrapped_cell(
        self, inputs: Any, state: Any, cell_call_fn: Callable[..., Any], **kwargs: Any
    ) -> Any:
        inputs = self._dropped("input", inputs)
        output, new_state = cell_call_fn(inputs, state, **kwargs)
        new_state = self._dropped("state", new_state)
        return self._dropped("output", output), new_state

    def _dropped(self, part: str, values: Any) -> Any:
        """The inputs, state or output with dropout, unless all of it is kept."""
        keep = getattr(self, f"_{part}_keep_prob")
        if isinstance(keep, float) and keep >= 1:
            return values
        noise, where = getattr(self, f"_recurrent_{part}_noise"), None
        if part == "state":
            where = nest.get_traverse_shallow_structure(self._dropout_state_filter, values)
        return self._dropout(values, part, noise, keep, where)

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {name: getattr(self, "_" + name) for name in _DROPOUT_CONFIG}


_DROPOUT_CONFIG = (
    "input_keep_prob", "output_keep_prob", "state_keep_prob", "variational_recurrent",
    "input_size", "seed",
)  # fmt: skip


def _probability(name: str, given: Any) -> Any:
    """A number when it is known now, otherwise the tensor."""
    tensor = convert_to_tensor(given)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if not 0 <= known <= 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {known:g}")
    return float(known)


# ---- residual, device, stack ------------------------------------------------------------------


class ResidualWrapper(_Wrapper):
    """Adds the inputs of a cell to its outputs."""

    def __init__(self, cell: Any, residual_fn: Callable[..., Any] | None = None, **kwargs: Any):
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _call_wrapped_cell(
        self, inputs: Any, state: Any, cell_call_fn: Callable[..., Any], **kwargs: Any
    ) -> Any:
        outputs, new_state = cell_call_fn(inputs, state, **kwargs)
        return (self._residual_fn or _sum)(inputs, outputs), new_state

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if self._residual_fn is not None:
            config["residual_fn"] = self._residual_fn
        return config


def _sum(inputs: Any, outputs: Any) -> Any:
    nest.assert_same_structure(inputs, outputs)

    def add(given: Any, made: Any) -> Any:
        given.shape.assert_is_compatible_with(made.shape)
        return given + made

    return nest.map_structure(add, inputs, outputs)


class DeviceWrapper(_Wrapper):
    """Runs a cell on a given device."""

    def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with device(self._device):
            return super().zero_state(batch_size, dtype)

    def _call_wrapped_cell(
        self, inputs: Any, state: Any, cell_call_fn: Callable[..., Any], **kwargs: Any
    ) -> Any:
        with device(self._device):
            return cell_call_fn(inputs, state, **kwargs)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "device": self._device}


class MultiRNNCell(RNNCell):
    """Cells one upon another: the output of each is the input of the next.

    Args:
        cells: a list of cells.
        state_is_tuple: whether a state is the tuple of theirs, and not one joined tensor.

    Raises:
        ValueError: there are no cells, or one keeps its state as a tuple though this one may not.
        TypeError: `cells` is no list.

    Example:
        >>> cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.GRUCell(size) for size in (8, 4)])
        >>> cell.state_size, cell.output_size
        ((8, 4), 4)
    """

    def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if len({id(cell) for cell in cells}) < len(cells):
            logging.log_first_n(
                logging.WARN,
                "At least two cells provided to MultiRNNCell are the same object and will share "
                "weights.",
                1,
            )
        self._cells = cells
        for i, cell in enumerate(cells):
            if isinstance(cell, Tracks):
                self._track_trackable(cell, name=f"cell-{i}")
        self._state_is_tuple = state_is_tuple
        sizes = [] if state_is_tuple else [cell.state_size for cell in cells]
        if any(map(nest.is_nested, sizes)):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  "
                f"State sizes are: {sizes}"
            )

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        with self._zero_state_scope(batch_size):
            if not self._state_is_tuple:
                return super().zero_state(batch_size, dtype)
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    @property
    def trainable_weights(self) -> list[Any]:
        return self._of_cells("trainable_weights") if self.trainable else []

    @property
    def non_trainable_weights(self) -> list[Any]:
        own = ["non_trainable_weights"]
        return self._of_cells(*(own if self.trainable else ["trainable_weights", *own]))

    def _of_cells(self, *attributes: str) -> list[Any]:
        layers = [cell for cell in self._cells if isinstance(cell, Layer)]
        return [w for name in attributes for layer in layers for w in getattr(layer, name)]

    def call(self, inputs: Any, state: Any) -> tuple[Any, Any]:
        if self._state_is_tuple and not nest.is_nested(state):
            raise ValueError(
                f"Expected state to be a tuple of length {len(self.state_size)}, but received: "
                f"{state}"
            )
        states = []
        for i, cell in enumerate(self._cells):
            with vs.variable_scope(f"cell_{i}"):
                inputs, new = cell(inputs, self._state_of(i, state))
                states.append(new)
        return inputs, tuple(states) if self._state_is_tuple else array_join.concat(states, 1)

    def _state_of(self, i: int, state: Any) -> Any:
        if self._state_is_tuple:
            return state[i]
        *before, size = [cell.state_size for cell in self._cells[: i + 1]]
        return slicing.slice(state, [0, sum(before)], [-1, size])
