"""Word vectors by skip-grams, as the first tutorials of TensorFlow trained them.

`Skipgram` reads a text and gives pairs of neighbouring words, `NegTrain` moves the vectors of such
pairs towards, and those of words drawn by chance away from, each other. The pairs are the same in
every run of a program, whatever the seed of the graph; the other words never are.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from weft.graph import shape_fn as s
from weft.graph.op_def import op
from weft.graph.traits import DEPRECATED, HOST_STATE
from weft.ops.kit import philox
from weft.ops.kit.resource_names import named_or_node
from weft.ops.kit.shared import invalid
from weft.ops.nn.candidate_distributions import AliasTable, Words, weighted
from weft.storage import file_io

_SENTENCE = 1000
_AHEAD = 3000  # pairs that are drawn at once
_ZERO = np.zeros(6, np.uint32)


# ---- pairs of neighbours -------------------------------------------------------------------------


class _Chance:
    """Numbers drawn one by one."""

    def __init__(self) -> None:
        self._words = self._stream()

    def _stream(self) -> Iterator[int]:
        words = Words(_ZERO)
        while True:
            yield from words.take(4096).tolist()

    def fraction(self) -> float:
        return (next(self._words) & 0x7FFFFF) / 2**23

    def below(self, bound: int) -> int:
        biased = 0 if bound & (bound - 1) == 0 else (2**32 - 1) % bound + 1
        while (word := next(self._words)) < biased:
            pass
        return word % bound


class Neighbours:
    """A text as pairs of a word and one near it, epoch after epoch."""

    def __init__(
        self, filename: str, window_size: int, min_count: int, subsample: float, **_: Any
    ) -> None:
        text = file_io.read_whole(filename).split()
        if len(text) < window_size * 10:
            raise invalid(f"The text file {filename} contains too little data: {len(text)} words")
        counts = Counter(text)
        frequent = [pair for pair in counts.most_common() if pair[1] >= min_count]
        self.words = [b"UNK", *(word for word, _ in frequent)]
        self.counts = [len(text) - sum(count for _, count in frequent)]
        self.counts += [count for _, count in frequent]
        ids = {word: i for i, word in enumerate(self.words[1:], 1)}
        self.corpus = [ids.get(word, 0) for word in text]
        self.epoch, self.seen = -1, 0
        self.lock = threading.Lock()
        self._window, self._chance = window_size, _Chance()
        self._kept = _share_kept(self.counts, subsample, len(text))
        self._position = len(text)
        self._pairs = self._all_pairs()
        self._drawn = list(islice(self._pairs, _AHEAD))

    def take(self, count: int) -> list[tuple[int, int]]:
        """The next pairs."""
        taken: list[tuple[int, int]] = []
        while len(taken) < count:
            wanted = count - len(taken)
            taken += self._drawn[:wanted]
            self._drawn = self._drawn[wanted:] or list(islice(self._pairs, _AHEAD))
        return taken

    def _all_pairs(self) -> Iterator[tuple[int, int]]:
        while True:
            sentence = self._sentence()
            for i, word in enumerate(sentence):
                self.seen += 1 if i else 0
                reach = 1 + self._chance.below(self._window)
                for j in range(max(0, i - reach), min(len(sentence), i + reach + 1)):
                    if j != i:
                        yield word, sentence[j]

    def _sentence(self) -> list[int]:
        """The next words of the text, of which frequent ones are left out at times."""
        self.seen += 1
        sentence: list[int] = []
        while len(sentence) < _SENTENCE:
            if self._position >= len(self.corpus):
                self.epoch, self._position = self.epoch + 1, 0
            word = self.corpus[self._position]
            self._position += 1
            if self._kept is None or self._chance.fraction() <= self._kept[word]:
                sentence.append(word)
        return sentence


def _share_kept(counts: list[int], subsample: float, total: int) -> list[float] | None:
    """How likely each word is kept: equation 5 of "Distributed Representations of Words"."""
    if subsample <= 0:
        return None
    share = np.float32(subsample) * np.float32(total)
    often = np.maximum(counts, 1).astype(np.float32)
    return ((np.sqrt(often / share) + np.float32(1)) * share / often).tolist()


def _pair_shapes(c: s.ShapeContext) -> list[s.Dims]:
    batch = (c.attr("batch_size"),)
    return [(None,), (None,), (), (), (), batch, batch]


@op(
    "Skipgram",
    outputs="vocab_word: string, vocab_freq: int32, words_per_epoch: int64, current_epoch: int32,"
    " total_words_processed: int64, examples: int32, labels: int32",
    attrs="filename: string, batch_size: int, window_size: int = 5, min_count: int = 5,"
    " subsample: float = 0.001",
    shape=_pair_shapes, traits=HOST_STATE | DEPRECATED,
)  # fmt: skip
def skipgram_(xp: Any, ctx: Any, *, batch_size: int) -> list[Any]:
    text = named_or_node(ctx, "text", "", "", lambda: Neighbours(**ctx.node.attrs))
    with text.lock:
        pairs = np.array(text.take(batch_size), np.int32).reshape(-1, 2)
        numbers = (
            np.array(text.counts, np.int32), np.int64(len(text.corpus)), np.int32(text.epoch),
            np.int64(text.seen),
        )  # fmt: skip
    return [np.array(text.words, object), *numbers, pairs[:, 0], pairs[:, 1]]


# ---- training ------------------------------------------------------------------------------------


def _check_training(w_in: Any, w_out: Any, examples: Any, labels: Any, lr: Any, words: int) -> None:
    wrong = [
        (w_in.ndim != 2, "Must be a matrix"),
        (w_in.shape != w_out.shape, "w_in.shape == w_out.shape"),
        (examples.ndim != 1, "Must be a vector"),
        (examples.shape != labels.shape, "examples.shape == labels.shape"),
        (np.ndim(lr) != 0, "Must be a scalar"),
    ]
    for is_wrong, message in wrong:
        if is_wrong:
            raise invalid(message)
    if len(w_in) != words:
        raise invalid(f"vocab_size mismatches: {len(w_in)} vs. {words}")


def _drawn(ctx: Any, counts: list[int], pairs: int, samples: int) -> np.ndarray:
    """Words in proportion to a power of how often they are, for each pair."""
    key = f"{ctx.node.name}/NegTrain"
    with ctx.resources.lock:
        state = ctx.resources.rng.get(key)
        if state is None:
            state = philox.initial_state(0, 0)
        ctx.resources.rng[key] = philox.advance(state, pairs * samples * 2)
    table = AliasTable(np.power(np.array(counts, np.float32), np.float32(0.75)))
    draws, _ = weighted(Words(state), table, max(pairs * samples, 1))
    found = np.empty(0, np.int64)
    while found.size < pairs * samples:
        found = np.concatenate([found, next(draws)])
    return found[: pairs * samples].reshape(pairs, samples)


@op(
    "NegTrain",
    inputs="w_in: ref(float), w_out: ref(float), examples: int32, labels: int32, lr: float",
    attrs="vocab_count: list(int), num_negative_samples: int", shape=s.none,
    traits=HOST_STATE | DEPRECATED,
)  # fmt: skip
def neg_train_(
    xp: Any, ctx: Any, w_in: Any, w_out: Any, examples: Any, labels: Any, lr: Any, *,
    vocab_count: list[int], num_negative_samples: int,
) -> None:  # fmt: skip
    inner, outer = np.array(w_in.read()), np.array(w_out.read())
    _check_training(inner, outer, examples, labels, lr, len(vocab_count))
    chosen = _drawn(ctx, vocab_count, examples.size, num_negative_samples)
    pairs = zip(examples.tolist(), labels.tolist(), chosen.tolist(), strict=True)
    for example, label, others in pairs:
        _train_pair(inner[example], outer, label, others, np.float32(lr))
    w_in.write(inner)
    w_out.write(outer)


def _train_pair(vector: Any, outer: Any, label: int, others: list[int], rate: Any) -> None:
    """Moves `vector` and the rows it is compared with along the gradient, row after row."""
    step = np.zeros_like(vector)
    for word, wanted in ((label, 1.0), *((word, 0.0) for word in others if word != label)):
        row = outer[word]
        near = 1.0 / (1.0 + np.exp(-np.dot(vector, row)))
        by = np.float32((wanted - near) * rate)
        step += row * by
        row += vector * by
    vector += step
