"""From scores over time to labels: the best class at each step, or the best of a beam."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.core import errors
from weft.core.step_limits import looking_up
from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.shape_fn import Dims, ShapeContext
from weft.graph.slices import SparseTensor
from weft.graph.tensor import Tensor
from weft.graph.traits import HOST, NO_GRADIENT
from weft.ops.kit.room import check_room
from weft.ops.kit.shared import invalid

Array = np.ndarray
Path = list[int]


def _decoded_dims(c: ShapeContext) -> list[Dims]:
    _, batch, _ = s.with_rank(c.dims(0), 3)
    batch = s.merge_dim(batch, s.with_rank(c.dims(1), 1)[0])
    paths = (c.num_outputs - 1) // 3
    return [*[(None, 2)] * paths, *[(None,)] * paths, *[(2,)] * paths, (batch, paths)]


def _check(inputs: Array, lengths: Array) -> None:
    time, batch = inputs.shape[:2]
    if time == 0:
        raise invalid("max_time is 0")
    if len(lengths) != batch:
        raise errors.FailedPreconditionError(
            None, None, f"len(sequence_length) != batch_size.  len(sequence_length):  "
            f"{len(lengths)} batch_size: {batch}",
        )  # fmt: skip
    for b, length in enumerate(lengths.tolist()):
        if length > time:
            raise errors.FailedPreconditionError(None, None, f"sequence_length({b}) <= {time}")


def _sparse(paths: Sequence[Path]) -> tuple[Array, Array, Array]:
    """Indices, values and shape of a matrix with a row for each path."""
    lengths = [len(path) for path in paths]
    rows = np.repeat(np.arange(len(paths)), lengths)
    columns = np.concatenate([np.arange(n) for n in lengths])
    values = np.array([label for path in paths for label in path], np.int64)
    shape = np.array([len(paths), max(lengths)], np.int64)
    return np.stack([rows, columns], axis=1).astype(np.int64), values, shape


@op(
    "CTCGreedyDecoder",
    inputs="inputs: T, sequence_length: int32",
    outputs="decoded_indices: int64, decoded_values: int64, decoded_shape: int64,"
    " log_probability: T",
    attrs="merge_repeated: bool = false, T: {float, double} = float",
    shape=_decoded_dims,
    traits=HOST | NO_GRADIENT,
)
def ctc_greedy_decoder_(
    xp: Any, inputs: Array, sequence_length: Array, *, merge_repeated: bool
) -> Any:
    _check(inputs, sequence_length)
    blank = inputs.shape[2] - 1
    within = np.arange(len(inputs))[:, None] < sequence_length
    score = -np.where(within, inputs.max(axis=2), 0).sum(axis=0, dtype=inputs.dtype)
    best = inputs.argmax(axis=2)
    emitted = within & (best != blank)
    if merge_repeated:
        emitted[1:] &= best[1:] != best[:-1]
    paths = [best[emitted[:, b], b].tolist() for b in range(inputs.shape[1])]
    return *_sparse(paths), score[:, None]


@op(
    "CTCBeamSearchDecoder",
    inputs="inputs: T, sequence_length: int32",
    outputs="decoded_indices: top_paths * int64, decoded_values: top_paths * int64,"
    " decoded_shape: top_paths * int64, log_probability: T",
    attrs="beam_width: int >= 1, top_paths: int >= 1, merge_repeated: bool = true,"
    " T: {float, double} = float",
    shape=_decoded_dims,
    traits=HOST | NO_GRADIENT,
)
def ctc_beam_search_decoder_(
    xp: Any, inputs: Array, sequence_length: Array, *, beam_width: int, top_paths: int,
    merge_repeated: bool,
) -> Any:  # fmt: skip
    for name, value in (("beam_width", beam_width), ("top_paths", top_paths)):
        if value >= 1 << 31:
            raise invalid(f"Attr {name} has value {value} out of range for an int32")
    _check(inputs, sequence_length)
    if top_paths > beam_width:
        raise invalid("requested more paths than the beam width.")
    found = [
        _beam_search(inputs[:length, b].astype(np.float64), beam_width, top_paths)
        for b, length in enumerate(sequence_length.tolist())
    ]
    ranked = [[_plain(paths[i], merge_repeated) for paths, _ in found] for i in range(top_paths)]
    indices, values, shapes = zip(*map(_sparse, ranked), strict=True)
    scores = np.array([score for _, score in found]).astype(inputs.dtype)
    return *indices, *values, *shapes, scores


def _plain(path: Path, merge: bool) -> Path:
    return [x for i, x in enumerate(path) if not (merge and i and x == path[i - 1])]


class _Beam:
    """The best prefixes so far, best first.

    Of each we know the logarithms of the probability that it was read and a blank came last
    (`blank`), that its last label came last (`label`), and of both together (`total`).
    """

    def __init__(self) -> None:
        self.paths: list[tuple[int, ...]] = [()]
        self.blank, self.label, self.total = np.zeros(1), np.full(1, -np.inf), np.zeros(1)

    def _parents(self) -> list[int]:
        """The place in the beam of each prefix without its last label; -1 if nowhere."""
        places = {path: i for i, path in enumerate(self.paths)}
        return [places.get(path[:-1], -1) if path else -1 for path in self.paths]

    def step(self, log_y: Array, width: int) -> None:
        """Reads one more frame, and keeps the best `width` prefixes."""
        last = np.array([path[-1] if path else -1 for path in self.paths])
        parents = np.array(self._parents())
        classes = len(log_y) - 1
        # A label that follows itself needs a blank in between.
        grown = np.where(
            last[:, None] == np.arange(classes), self.blank[:, None], self.total[:, None]
        )
        known = parents >= 0
        label = self.label.copy()
        label[known] = np.logaddexp(label[known], grown[parents[known], last[known]])
        label = np.where(last >= 0, label + log_y[last], -np.inf)
        blank = self.total + log_y[-1]
        grown[parents[known], last[known]] = -np.inf  # these are in the beam already
        self._keep(blank, label, grown + log_y[:-1], width)

    def _keep(self, blank: Array, label: Array, grown: Array, width: int) -> None:
        flat = grown.ravel()
        fresh = np.flatnonzero(flat > -np.inf)
        blank = np.concatenate([blank, np.full(len(fresh), -np.inf)])
        label = np.concatenate([label, flat[fresh]])
        total = np.logaddexp(blank, label)
        best = _largest(total, width)
        old, classes = len(self.paths), grown.shape[1]
        paths = []
        for i in best.tolist():
            parent, added = divmod(int(fresh[i - old]), classes) if i >= old else (i, None)
            path = self.paths[parent]
            paths.append(path if added is None else (*path, added))
        self.paths = paths
        self.blank, self.label, self.total = blank[best], label[best], total[best]


def _largest(values: Array, count: int) -> Array:
    """Positions of the `count` largest values, largest first; the first of equal ones wins."""
    if len(values) > 4 * count:
        bound = np.partition(values, len(values) - count)[len(values) - count]
        candidates = np.flatnonzero(values >= bound)
        return candidates[np.argsort(-values[candidates], kind="stable")[:count]]
    return np.argsort(-values, kind="stable")[:count]


def _beam_search(logits: Array, width: int, top: int) -> tuple[list[Path], Array]:
    """The `top` best label sequences of one element of the batch, and their log probabilities."""
    beam = _Beam()
    for frame in looking_up(logits):
        check_room((len(beam.paths), len(frame)), np.float64, times=8)  # and the paths themselves
        shifted = frame - frame.max()
        beam.step(shifted - np.log(np.exp(shifted).sum()), width)
    if top > len(beam.paths):
        raise invalid("Less leaves in the beam search than requested.")
    return [list(path) for path in beam.paths[:top]], beam.total[:top]


Decoded = tuple[list[SparseTensor], Tensor]


def ctc_greedy_decoder(inputs: Any, sequence_length: Any, merge_repeated: bool = True) -> Decoded:
    """The labels of the best class at each step, and the negative sum of their scores."""
    indices, values, shape, score = ctc_greedy_decoder_(
        inputs, sequence_length, merge_repeated=merge_repeated
    )
    return [SparseTensor(indices, values, shape)], score


def ctc_beam_search_decoder(
    inputs: Any,
    sequence_length: Any,
    beam_width: int = 100,
    top_paths: int = 1,
    merge_repeated: bool = True,
) -> Decoded:
    """The `top_paths` most probable label sequences, and their log probabilities."""
    indices, values, shapes, scores = ctc_beam_search_decoder_(
        inputs, sequence_length, beam_width=beam_width, top_paths=top_paths,
        merge_repeated=merge_repeated,
    )  # fmt: skip
    return [SparseTensor(*each) for each in zip(indices, values, shapes, strict=True)], scores


def ctc_beam_search_decoder_v2(
    inputs: Any, sequence_length: Any, beam_width: int = 100, top_paths: int = 1
) -> Decoded:
    """`ctc_beam_search_decoder` that keeps repeated labels."""
    return ctc_beam_search_decoder(inputs, sequence_length, beam_width, top_paths, False)
