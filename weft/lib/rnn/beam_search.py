"""Beam search: a decoder that keeps the likeliest sequences of every batch entry."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, nest
from weft.core.shapes import TensorShape
from weft.graph.constant_value import constant_value
from weft.graph.convert import convert_to_tensor
from weft.graph.graph import Tensor, control_dependencies, name_scope
from weft.lib.layers.base import Layer
from weft.lib.platform import tf_logging
from weft.lib.rnn.basic_decoder import check_output_layer, layered_output_size
from weft.lib.rnn.beam_scores import (
    attention_probs,
    check_rank,
    gather_beams,
    gather_tree_from_array,
    get_scores,
    mask_probs,
)
from weft.lib.rnn.cells import assert_like_rnncell, size_of
from weft.lib.rnn.decoder import Decoder
from weft.lib.rnn.helper import embedding_function, start_and_end, while_any_runs
from weft.lib.rnn.step import static_shape
from weft.ops.array import fill as array_fill
from weft.ops.array import join as array_join
from weft.ops.array import one_hot_search as select
from weft.ops.array import repeat as array_repeat
from weft.ops.array import shape as array_shape
from weft.ops.control.control import Assert
from weft.ops.lists.tensor_array import TensorArray
from weft.ops.math import casts, elementwise, reduce, unary
from weft.ops.nn import activations as nn_impl
from weft.ops.nn.gather_tree import gather_tree

BeamSearchDecoderState = namedtuple(
    "BeamSearchDecoderState",
    ("cell_state", "log_probs", "finished", "lengths", "accumulated_attention_probs"),
)
BeamSearchDecoderOutput = namedtuple(
    "BeamSearchDecoderOutput", ("scores", "predicted_ids", "parent_ids")
)
FinalBeamSearchDecoderOutput = namedtuple(
    "FinalBeamSearchDecoderOutput", ("predicted_ids", "beam_search_decoder_output")
)
FinalBeamSearchDecoderOutput.__doc__ = "The sentences a beam search found, and its last step."


# ---- the decoder ------------------------------------------------------------------------------


class BeamSearchDecoder(Decoder):
    """Keeps `beam_width` sequences for every batch entry, by their summed log-probabilities."""

    def __init__(
        self,
        cell: Any,
        embedding: Any,
        start_tokens: Any,
        end_token: Any,
        initial_state: Any,
        beam_width: int,
        output_layer: Layer | None = None,
        length_penalty_weight: Any = 0.0,
        coverage_penalty_weight: Any = 0.0,
        reorder_tensor_arrays: bool = True,
    ) -> None:
        assert_like_rnncell("cell", cell)
        check_output_layer(output_layer)
        self._cell, self._output_layer = cell, output_layer
        self._beam_width, self._reorder_tensor_arrays = beam_width, reorder_tensor_arrays
        self._length_penalty_weight = length_penalty_weight
        self._coverage_penalty_weight = coverage_penalty_weight
        self._embedding_fn = embedding_function(embedding)
        tokens, self._end_token = start_and_end(start_tokens, end_token)
        self._batch_size = array_shape.size(start_tokens)
        self._initial_cell_state = self._of_states(self._maybe_split_batch_beams, initial_state)
        self._start_tokens = array_repeat.tile(array_shape.expand_dims(tokens, 1), [1, beam_width])
        self._start_inputs = self._embedding_fn(self._start_tokens)
        # All beams start alike, so only the first may go on.
        self._finished = select.one_hot(
            array_fill.zeros([self._batch_size], dtype=dtypes.int32),
            depth=beam_width,
            on_value=False,
            off_value=True,
            dtype=dtypes.bool,
        )

    @property
    def batch_size(self) -> Any:
        return self._batch_size

    @property
    def tracks_own_finished(self) -> bool:
        return True

    @property
    def output_size(self) -> BeamSearchDecoderOutput:
        width = TensorShape([self._beam_width])
        return BeamSearchDecoderOutput(scores=width, predicted_ids=width, parent_ids=width)

    @property
    def output_dtype(self) -> BeamSearchDecoderOutput:
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        sizes = layered_output_size(self._cell, self._output_layer)
        return BeamSearchDecoderOutput(
            scores=nest.map_structure(lambda _: dtype, sizes),
            predicted_ids=dtypes.int32,
            parent_ids=dtypes.int32,
        )

    def initialize(self, name: str | None = None) -> Any:
        dtype = nest.flatten(self._initial_cell_state)[0].dtype
        first = array_fill.zeros([self._batch_size], dtype=dtypes.int32)
        sure, never = (convert_to_tensor(value, dtype=dtype) for value in (0.0, -np.inf))
        log_probs = select.one_hot(first, self._beam_width, sure, never, dtype=dtype)
        attended = attention_probs(self._initial_cell_state, self._coverage_penalty_weight)
        state = BeamSearchDecoderState(
            cell_state=self._initial_cell_state,
            log_probs=log_probs,
            finished=self._finished,
            lengths=array_fill.zeros([self._batch_size, self._beam_width], dtype=dtypes.int64),
            accumulated_attention_probs=() if attended is None else attended,
        )
        return self._finished, self._start_inputs, state

    def finalize(self, outputs: Any, final_state: Any, sequence_lengths: Any) -> Any:
        longest = casts.cast(reduce.reduce_max(final_state.lengths, axis=1), dtypes.int32)
        ids = gather_tree(outputs.predicted_ids, outputs.parent_ids, longest, self._end_token)
        if self._reorder_tensor_arrays:
            ordered = nest.map_structure(
                lambda t: self._maybe_sort_array(t, outputs.parent_ids, final_state.lengths),
                final_state.cell_state,
            )
            final_state = final_state._replace(cell_state=ordered)
        return (
            FinalBeamSearchDecoderOutput(predicted_ids=ids, beam_search_decoder_output=outputs),
            final_state,
        )

    # ---- [batch, beam, ...] and [batch * beam, ...] ----

    def _static_batch(self) -> int | None:
        known = constant_value(self._batch_size)
        return None if known is None else int(known)

    def _merge_batch_beams(self, t: Any, size: Any) -> Tensor:
        now = array_shape.shape(t)
        beams = self._batch_size * self._beam_width
        merged = array_shape.reshape(t, array_join.concat(([beams], now[2:]), 0))
        batch = self._static_batch()
        rows = None if batch is None else batch * self._beam_width
        merged.set_shape(TensorShape([rows]).concatenate(static_shape(size)))
        return merged

    def _of_states(self, function: Callable[..., Any], states: Any) -> Any:
        """`function` of every part of the cell's state and its size."""
        return nest.map_structure(function, states, self._cell.state_size)

    def _split_batch_beams(self, t: Any, size: Any) -> Tensor:
        expected = TensorShape([self._static_batch(), self._beam_width]).concatenate(
            static_shape(size)
        )
        beams = [self._batch_size, self._beam_width]
        split = array_shape.reshape(t, array_join.concat((beams, array_shape.shape(t)[1:]), 0))
        if not split.shape.is_compatible_with(expected):
            raise ValueError(
                "Unexpected behavior when reshaping between beam width and batch size.  The "
                f"reshaped tensor has shape: {split.shape}.  We expected it to have shape "
                f"(batch_size, beam_width, depth) == {expected}.  Perhaps you forgot to create a "
                "zero_state with batch_size=encoder_batch_size * beam_width?"
            )
        split.set_shape(expected)
        return split

    def _maybe_split_batch_beams(self, t: Any, size: Any) -> Any:
        if isinstance(t, TensorArray):
            return t
        check_rank(t)
        return self._split_batch_beams(t, size) if t.shape.ndims >= 1 else t

    def _maybe_merge_batch_beams(self, t: Any, size: Any) -> Any:
        if isinstance(t, TensorArray):
            return t
        check_rank(t)
        return self._merge_batch_beams(t, size) if t.shape.ndims >= 2 else t

    def _maybe_sort_array(self, t: Any, parent_ids: Tensor, lengths: Tensor) -> Any:
        """An array of the cell's state, such as its alignments, in the order of the final beams."""
        if not isinstance(t, TensorArray):
            return t
        shape = t.element_shape
        if shape.ndims is None or shape.ndims < 1:
            tf_logging.warn(
                "The TensorArray %s in the cell state is not amenable to sorting based on the "
                "beam search result. For a TensorArray to be sorted, its elements shape must be "
                "defined and have at least a rank of 1, but saw shape: %s",
                t.handle.name,
                shape,
            )
            return t
        batch, width = self._static_batch(), self._beam_width
        dims = shape.as_list()
        if batch is not None and dims[0] is not None:
            # Elements whose second size is known would need to be both joined and apart.
            apart = dims[1:2] in ([], [None]) or dims[:2] == [batch, width]
            if dims[0] != batch * width or not apart:
                tf_logging.warn(
                    "TensorArray reordering expects elements to be reshapable to %s which is "
                    "incompatible with the current shape %s. Consider setting "
                    "reorder_tensor_arrays to False to disable TensorArray reordering during the "
                    "beam search.",
                    TensorShape([batch, width, None]),
                    shape,
                )
                return t
        stacked = t.stack()
        with control_dependencies([_assert_beams(stacked, self._batch_size, width)]):
            return gather_tree_from_array(stacked, parent_ids, lengths)

    # ---- one step ----

    def step(self, time: Any, inputs: Any, state: Any, name: str | None = None) -> Any:
        with name_scope(name, "BeamSearchDecoderStep", [time]):
            inputs = nest.map_structure(lambda x: self._merge_batch_beams(x, x.shape[2:]), inputs)
            outputs, cell_state = self._cell(
                inputs, self._of_states(self._maybe_merge_batch_beams, state.cell_state)
            )
            outputs = nest.map_structure(lambda x: self._split_batch_beams(x, x.shape[1:]), outputs)
            cell_state = self._of_states(self._maybe_split_batch_beams, cell_state)
            if self._output_layer is not None:
                outputs = self._output_layer(outputs)
            output, next_state = self._extend(outputs, cell_state, state)
            finished = next_state.finished
            next_inputs = while_any_runs(
                finished, self._start_inputs, lambda: self._embedding_fn(output.predicted_ids)
            )
        return output, next_state, next_inputs, finished

    def _extend(self, logits: Tensor, next_cell_state: Any, state: Any) -> tuple[Any, Any]:
        """Every beam by every word, of which the best `beam_width` stay."""
        batch, width = self._batch_size, self._beam_width
        going = unary.logical_not(state.finished)
        words = size_of(logits, -1)
        log_probs = mask_probs(nn_impl.log_softmax(logits), self._end_token, state.finished)
        total = array_shape.expand_dims(state.log_probs, 2) + log_probs
        added = select.one_hot(
            array_fill.fill([batch, width], self._end_token),
            depth=words,
            on_value=casts.to_int64(0),
            off_value=casts.to_int64(1),
            dtype=dtypes.int64,
        ) * array_shape.expand_dims(casts.cast(going, dtypes.int64), 2)
        lengths = added + array_shape.expand_dims(state.lengths, 2)
        attended = attention_probs(next_cell_state, self._coverage_penalty_weight)
        if attended is not None:
            open_beams = array_shape.expand_dims(casts.cast(going, dtypes.float32), 2)
            attended = state.accumulated_attention_probs + attended * open_beams
        scores = get_scores(
            total,
            lengths,
            self._length_penalty_weight,
            self._coverage_penalty_weight,
            state.finished,
            attended,
        )
        flat_scores = array_shape.reshape(scores, [batch, -1])
        kept_beams = convert_to_tensor(width, dtypes.int32, name="beam_width")
        best, index = nn_impl.top_k(flat_scores, k=kept_beams)
        for each in (best, index):
            each.set_shape([self._static_batch(), width])
        chosen = gather_beams(index, total, batch, width * words, [-1], name="next_beam_probs")
        ids = casts.cast(elementwise.mod(index, words, name="next_beam_word_ids"), dtypes.int32)
        parents = casts.cast(index / words, dtypes.int32, name="next_beam_parent_ids")

        def of_parents(values: Any, flat: list[Any], name: str | None = None) -> Tensor:
            return gather_beams(parents, values, batch, width, flat, name)

        was_finished = of_parents(state.finished, [-1])
        finished = elementwise.logical_or(
            was_finished, elementwise.equal(ids, self._end_token), name="next_beam_finished"
        )
        grown = casts.cast(unary.logical_not(was_finished), dtypes.int64)
        lengths = of_parents(state.lengths, [-1]) + grown
        if attended is not None:
            rows = [batch * width, -1]
            attended = of_parents(attended, rows, "next_accumulated_attention_probs")

        def kept(values: Any) -> Any:
            rows = [batch * width, -1]
            if isinstance(values, TensorArray):
                return values
            check_rank(values)
            return of_parents(values, rows) if values.shape.ndims > 1 else values

        next_state = BeamSearchDecoderState(
            cell_state=nest.map_structure(kept, next_cell_state),
            log_probs=chosen,
            lengths=lengths,
            finished=finished,
            accumulated_attention_probs=() if attended is None else attended,
        )
        return BeamSearchDecoderOutput(best, ids, parents), next_state


def _assert_beams(t: Tensor, batch_size: Any, beam_width: int) -> Any:
    sizes = array_shape.shape(t)
    holds = elementwise.equal(sizes[1], batch_size * beam_width)
    if t.shape.ndims != 2:
        apart = elementwise.logical_and(
            elementwise.equal(sizes[1], batch_size), elementwise.equal(sizes[2], beam_width)
        )
        holds = elementwise.logical_or(holds, apart)
    return Assert(
        holds,
        [
            "TensorArray reordering expects elements to be reshapable to [batch_size, beam_size, "
            f"-1] which is incompatible with the dynamic shape of {t.name} elements. Consider "
            "setting reorder_tensor_arrays to False to disable TensorArray reordering during the "
            "beam search."
        ],
    )
