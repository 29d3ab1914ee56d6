"""From scores over time to labels: the best class at each step, or the best of a beam."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappush, heapreplace
from typing import Any, NamedTuple

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

    def step(self, log_y: Array, width: int) -> None:
        """Reads one more frame, and keeps the best `width` prefixes."""
        last = np.array([path[-1] if path else -1 for path in self.paths])
        families = self._families()
        children = np.array([child for family in families for child in family.values()], np.intp)
        parents = np.repeat(np.arange(len(families)), [len(family) for family in families])
        # A label that follows itself needs a blank in between.
        repeats = last[:, None] == np.arange(len(log_y) - 1)
        grown = np.where(repeats, self.blank[:, None], self.total[:, None])
        label = self.label.copy()
        label[children] = np.logaddexp(label[children], grown[parents, last[children]])
        label = np.where(last >= 0, label + log_y[last], -np.inf)
        self._keep(self.total + log_y[-1], label, grown + log_y[:-1], families, width)

    def _families(self) -> list[dict[int, int]]:
        """For each prefix, those in the beam that have one label more: label -> place."""
        places = {path: i for i, path in enumerate(self.paths)}
        found: list[dict[int, int]] = [{} for _ in self.paths]
        for path, place in places.items():
            if path and path[:-1] in places:
                found[places[path[:-1]]][path[-1]] = place
        return found

    def _keep(
        self, blank: Array, label: Array, grown: Array, families: list[dict[int, int]], width: int
    ) -> None:
        total = np.logaddexp(blank, label)
        chosen = sorted(self._chosen(total, grown, families, width), key=lambda c: (-c[0], -c[1]))
        stays = [each[2:] for each in chosen]
        self.paths = [
            (*self.paths[i], added) if added >= 0 else self.paths[i] for i, added in stays
        ]
        self.total = np.array([each[0] for each in chosen])
        self.blank = np.array([-np.inf if added >= 0 else blank[i] for i, added in stays])
        self.label = np.array([grown[i, added] if added >= 0 else label[i] for i, added in stays])

    def _chosen(
        self, total: Array, grown: Array, families: list[dict[int, int]], width: int
    ) -> list[_Choice]:
        """The best prefixes, found as TensorFlow finds them.

        Those in the beam grow in turn, best first, and what is better than the worst drives it out.
        A prefix that was driven out by the turn of its parent does not grow any more.
        """
        kept = [_Choice(value, -i, i, -1) for i, value in enumerate(total.tolist())]
        heapify(kept)
        gone: set[int] = set()
        silent: set[int] = set()
        for place, family in enumerate(families):
            bound = kept[0][0] if len(kept) == width else -np.inf
            if place in silent or self.total[place] <= bound:
                continue
            row = grown[place]
            for added in sorted({*np.flatnonzero(row > bound).tolist(), *family}):
                if added in family:
                    silent |= gone & {family[added]}
                    continue
                new = _Choice(
                    float(row[added]), -(len(total) + row.size * place + added), place, added
                )
                if len(kept) < width:
                    heappush(kept, new)
                elif new[0] > kept[0][0]:
                    old = heapreplace(kept, new)
                    gone |= {old.place} if old.added < 0 else set()
        return kept


class _Choice(NamedTuple):
    """A prefix: how likely it is, later ones less, its place, and the label it has grown by."""

    total: float
    order: int
    place: int
    added: int


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
