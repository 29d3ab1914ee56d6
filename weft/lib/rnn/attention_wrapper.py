"""A cell whose inputs include what it attends to."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.layers.core import Dense
from weft.lib.rnn.attention import AttentionMechanism
from weft.lib.rnn.cells import RNNCell, assert_like_rnncell, size_of, zero_state_tensors
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import placeholders as array_pass
from weft.ops.array import shape as array_shape
from weft.ops.control import check
from weft.ops.control.checked_shapes import with_same_shape
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import matmul


class AttentionWrapperState(
    namedtuple(
        "AttentionWrapperState",
        (
            "cell_state",
            "attention",
            "time",
            "alignments",
            "alignment_history",
            "attention_state",
        ),
    )
):
    """What an `AttentionWrapper` hands on: its cell's state, what it attended to, and when."""

    __slots__ = ()

    def clone(self, **kwargs: Any) -> AttentionWrapperState:
        """This state with some parts replaced by others of the same shape."""
        return nest.map_structure(_in_place_of, self, self._replace(**kwargs))


def _in_place_of(old: Any, new: Any) -> Any:
    are_tensors = all(isinstance(part, Tensor) for part in (old, new))
    return with_same_shape(old, new) if are_tensors else new


def _weighted_sum(values: Tensor, weights: Tensor) -> Tensor:
    rows = matmul.matmul(array_shape.expand_dims(weights, 1), values)
    return array_shape.squeeze(rows, [1])


def _compute_attention(
    mechanism: Any, cell_output: Tensor, attention_state: Any, attention_layer: Any
) -> tuple[Tensor, Tensor, Any]:
    """(attention, alignments, next attention state) for the output of a cell."""
    alignments, state = mechanism(cell_output, state=attention_state)
    seen = _weighted_sum(mechanism.values, alignments)
    if attention_layer is None:
        return seen, alignments, state
    both = array_join.concat([cell_output, seen], 1)
    return attention_layer(both), alignments, state


_TILE = (
    "Are you using the BeamSearchDecoder?  You may need to tile your {} via the "
    "tf.contrib.seq2seq.tile_batch function with argument multiple=beam_width."
)


class AttentionWrapper(RNNCell):
    """A cell whose inputs include what it attended to in the step before."""

    def __init__(
        self,
        cell: Any,
        attention_mechanism: Any,
        attention_layer_size: Any = None,
        alignment_history: bool = False,
        cell_input_fn: Callable[..., Any] | None = None,
        output_attention: bool = True,
        initial_cell_state: Any = None,
        name: str | None = None,
        attention_layer: Any = None,
        attention_fn: Callable[..., Any] | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(name=name, dtype=dtype)
        assert_like_rnncell("cell", cell)
        self._is_multi = isinstance(attention_mechanism, (list, tuple))
        mechanisms = attention_mechanism if self._is_multi else (attention_mechanism,)
        for mechanism in mechanisms:
            if not isinstance(mechanism, AttentionMechanism):
                wanted = "must contain only instances of AttentionMechanism"
                if not self._is_multi:
                    wanted = (
                        "must be an AttentionMechanism or list of multiple AttentionMechanism "
                        "instances"
                    )
                raise TypeError(
                    f"attention_mechanism {wanted}, saw type: {type(mechanism).__name__}"
                )
        if cell_input_fn is None:
            cell_input_fn = _join_inputs
        elif not callable(cell_input_fn):
            raise TypeError(
                f"cell_input_fn must be callable, saw type: {type(cell_input_fn).__name__}"
            )
        self._cell, self._attention_mechanisms = cell, mechanisms
        self._cell_input_fn, self._output_attention = cell_input_fn, output_attention
        self._alignment_history = alignment_history
        self._attention_fn = attention_fn or _compute_attention
        self._make_layers(attention_layer_size, attention_layer)
        with name_scope(name, "AttentionWrapperInit"):
            self._initial_cell_state = None
            if initial_cell_state is not None:
                last = nest.flatten(initial_cell_state)[-1]
                message = (
                    f"When constructing AttentionWrapper {self._base_name}: Non-matching batch "
                    "sizes between the memory (encoder output) and initial_cell_state.  "
                ) + _TILE.format("initial state")
                with control_dependencies(self._batch_size_checks(size_of(last, 0), message)):
                    self._initial_cell_state = nest.map_structure(
                        lambda s: array_pass.identity(s, name="check_initial_cell_state"),
                        initial_cell_state,
                    )

    def _make_layers(self, sizes: Any, layers: Any) -> None:
        mechanisms = self._attention_mechanisms
        if sizes is not None and layers is not None:
            raise ValueError("Only one of attention_layer_size and attention_layer should be set")
        depths = [mechanism.values.shape.as_list()[-1] for mechanism in mechanisms]
        self._attention_layers: Any = None
        if sizes is not None:
            sizes = tuple(sizes if isinstance(sizes, (list, tuple)) else (sizes,))
            if len(sizes) != len(mechanisms):
                raise ValueError(
                    "If provided, attention_layer_size must contain exactly one integer per "
                    f"attention_mechanism, saw: {len(sizes)} vs {len(mechanisms)}"
                )
            self._attention_layers = tuple(
                Dense(size, name="attention_layer", use_bias=False, dtype=mechanism.dtype)
                for size, mechanism in zip(sizes, mechanisms, strict=True)
            )
            self._attention_layer_size = sum(sizes)
        elif layers is not None:
            layers = tuple(layers if isinstance(layers, (list, tuple)) else (layers,))
            if len(layers) != len(mechanisms):
                raise ValueError(
                    "If provided, attention_layer must contain exactly one layer per "
                    f"attention_mechanism, saw: {len(layers)} vs {len(mechanisms)}"
                )
            self._attention_layers = layers
            self._attention_layer_size = sum(
                TensorShape(
                    layer.compute_output_shape([None, self._cell.output_size + depth])
                ).as_list()[-1]
                for layer, depth in zip(layers, depths, strict=True)
            )
        else:
            self._attention_layer_size = sum(depths)

    def _batch_size_checks(self, batch_size: Any, message: str) -> list[Any]:
        return [
            check.assert_equal(batch_size, mechanism.batch_size, message=message)
            for mechanism in self._attention_mechanisms
        ]

    def _item_or_tuple(self, items: Any) -> Any:
        """One item for one mechanism, a tuple for a list of them."""
        items = tuple(items)
        return items if self._is_multi else items[0]

    @property
    def output_size(self) -> Any:
        return self._attention_layer_size if self._output_attention else self._cell.output_size

    @property
    def state_size(self) -> AttentionWrapperState:
        sizes = [mechanism.alignments_size for mechanism in self._attention_mechanisms]
        return self._state_of(
            self._cell.state_size,
            TensorShape([]),
            self._attention_layer_size,
            sizes,
            [mechanism.state_size for mechanism in self._attention_mechanisms],
            sizes,
        )

    def _state_of(
        self, cell: Any, time: Any, attention: Any, alignments: Any, states: Any, history: Any
    ) -> AttentionWrapperState:
        """A state of these parts, of which the last three have one for each mechanism."""
        if not self._alignment_history:
            history = [()] * len(alignments)
        each = [self._item_or_tuple(parts) for parts in (alignments, history, states)]
        return AttentionWrapperState(cell, attention, time, *each)

    def zero_state(self, batch_size: Any, dtype: Any) -> AttentionWrapperState:
        mechanisms = self._attention_mechanisms
        with self._zero_state_scope(batch_size):
            cell_state = self._initial_cell_state
            if cell_state is None:
                cell_state = self._cell.get_initial_state(batch_size=batch_size, dtype=dtype)
            message = (
                f"When calling zero_state of AttentionWrapper {self._base_name}: Non-matching "
                "batch sizes between the memory (encoder output) and the requested batch size.  "
                "Are you using the BeamSearchDecoder?  If so, make sure your encoder output has "
                "been tiled to beam_width via tf.contrib.seq2seq.tile_batch, and the batch_size= "
                "argument passed to zero_state is batch_size * beam_width."
            )
            with control_dependencies(self._batch_size_checks(batch_size, message)):
                cell_state = nest.map_structure(
                    lambda s: array_pass.identity(s, name="checked_cell_state"), cell_state
                )
            alignments = [m.initial_alignments(batch_size, dtype) for m in mechanisms]
            time = array_fill.zeros([], dtype=dtypes.int32)
            attention = zero_state_tensors(self._attention_layer_size, batch_size, dtype)
            states = [m.initial_state(batch_size, dtype) for m in mechanisms]
            history = [
                TensorArray(dtype, size=0, dynamic_size=True, element_shape=each.shape)
                for each in alignments
                if self._alignment_history
            ]
            return self._state_of(cell_state, time, attention, alignments, states, history)

    def call(self, inputs: Any, state: AttentionWrapperState) -> tuple[Any, Any]:
        if not isinstance(state, AttentionWrapperState):
            raise TypeError(
                "Expected state to be instance of AttentionWrapperState. Received type "
                f"{type(state)} instead."
            )
        cell_inputs = self._cell_input_fn(inputs, state.attention)
        output, next_cell_state = self._cell(cell_inputs, state.cell_state)
        message = (
            f"When applying AttentionWrapper {self.name}: Non-matching batch sizes between the "
            "memory (encoder output) and the query (decoder output).  "
        ) + _TILE.format("memory input")
        with control_dependencies(self._batch_size_checks(size_of(output, 0), message)):
            output = array_pass.identity(output, name="checked_cell_output")
        states, histories = state.attention_state, state.alignment_history
        if not self._is_multi:
            states, histories = [states], [histories]
        results, new_histories = [], []
        for i, mechanism in enumerate(self._attention_mechanisms):
            layer = self._attention_layers[i] if self._attention_layers else None
            result = self._attention_fn(mechanism, output, states[i], layer)
            results.append(result)
            new_histories.append(
                histories[i].write(state.time, result[1]) if self._alignment_history else ()
            )
        attentions, alignments, next_states = zip(*results, strict=True)
        attention = array_join.concat(list(attentions), 1)
        next_state = AttentionWrapperState(
            time=state.time + 1,
            cell_state=next_cell_state,
            attention=attention,
            attention_state=self._item_or_tuple(next_states),
            alignments=self._item_or_tuple(alignments),
            alignment_history=self._item_or_tuple(new_histories),
        )
        return (attention if self._output_attention else output), next_state


def _join_inputs(inputs: Any, attention: Any) -> Tensor:
    return array_join.concat([inputs, attention], -1)
