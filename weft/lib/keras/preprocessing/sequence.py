"""Sequences of numbers: made equally long, cut into windows, paired."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from weft.lib.keras.utils.data_utils import Sequence


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray:
    """Sequences as one array [number, maxlen, ...]: filled up with `value`, or cut, at one end."""
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    for x in sequences:
        if not hasattr(x, "__len__"):
            raise ValueError(f"`sequences` must be a list of iterables. Found non-iterable: {x}")
    if maxlen is None:
        maxlen = max((len(x) for x in sequences), default=0)
    sample_shape = next((np.asarray(x).shape[1:] for x in sequences if len(x)), ())
    _check_value(value, dtype)
    padded = np.full((len(sequences), maxlen, *sample_shape), value, dtype=dtype)
    for i, x in enumerate(sequences):
        if not len(x):
            continue
        kept = np.asarray(_truncated(x, maxlen, truncating), dtype=dtype)
        if kept.shape[1:] != sample_shape:
            raise ValueError(
                f"Shape of sample {kept.shape[1:]} of sequence at position {i} is different from "
                f"expected shape {sample_shape}"
            )
        _place(padded[i], kept, padding)
    return padded


def _check_value(value: Any, dtype: Any) -> None:
    is_text = np.issubdtype(dtype, np.str_)
    if isinstance(value, str) and dtype is not object and not is_text:
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\nYou should set "
            "`dtype=object` for variable length strings."
        )


def _truncated(x: Any, maxlen: int, truncating: str) -> Any:
    if truncating == "pre":
        return x[-maxlen:] if maxlen else x[:0]
    if truncating == "post":
        return x[:maxlen]
    raise ValueError(f'Truncating type "{truncating}" not understood')


def _place(row: np.ndarray, values: np.ndarray, padding: str) -> None:
    places = {"post": slice(len(values)), "pre": slice(len(row) - len(values), None)}
    if padding not in places:
        raise ValueError(f'Padding type "{padding}" not understood')
    row[places[padding]] = values


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> np.ndarray:
    """How likely the word of each rank is to be kept, if words are as frequent as Zipf's law says.

    This is the subsampling of word2vec.
    """
    rank = np.arange(size)
    rank[0] = 1
    # The harmonic series, approximated: what is left over is Euler's constant.
    harmonic, rest = np.log(rank) + 0.577, 1.0 / (12.0 * rank)
    share = (rank * harmonic + 0.5 - rest) * sampling_factor
    return np.minimum(1.0, share / np.sqrt(share))


def skipgrams(
    sequence: Any,
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Pairs of words, and whether they stand within `window_size` words of each other.

    For each pair that does there are `negative_samples` made up ones; 0 is no word.
    """
    couples = _near_couples(sequence, window_size, sampling_table)
    count = int(len(couples) * negative_samples) if negative_samples > 0 else 0
    labels: list[Any] = [[0, 1] if categorical else 1] * len(couples)
    if negative_samples > 0:
        words = [couple[0] for couple in couples]
        random.shuffle(words)
        couples += [
            [words[i % len(words)], random.randint(1, vocabulary_size - 1)] for i in range(count)
        ]
        labels += [[1, 0] if categorical else 0] * count
    if shuffle:
        seed = random.randint(0, 10**7) if seed is None else seed
        for shuffled in (couples, labels):
            random.seed(seed)
            random.shuffle(shuffled)
    return couples, labels


def _near_couples(sequence: Any, window_size: int, sampling_table: Any) -> list[list[int]]:
    couples: list[list[int]] = []
    for i, word in enumerate(sequence):
        if not word:
            continue
        if sampling_table is not None and sampling_table[word] < random.random():
            continue
        before, after = sequence[max(0, i - window_size) : i], sequence[i + 1 : i + window_size + 1]
        couples += [[word, other] for other in [*before, *after] if other]
    return couples


class TimeseriesGenerator(Sequence):
    """Batches of windows of `length` steps of `data`, each with the target of the step after."""

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise ValueError(
                f"Data and targets have to be of same length. Data length is {len(data)} while "
                f"target length is {len(targets)}"
            )
        self.data, self.targets, self.length = data, targets, length
        self.sampling_rate, self.stride = sampling_rate, stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle, self.reverse, self.batch_size = shuffle, reverse, batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is "
                "disallowed, as no part of the sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        steps = self.batch_size * self.stride
        return (self.end_index - self.start_index + steps) // steps

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        ends = self._rows(index)
        windows = (slice(end - self.length, end, self.sampling_rate) for end in ends)
        samples = np.array([self.data[window] for window in windows])
        targets = np.array([self.targets[end] for end in ends])
        return (np.flip(samples, 1) if self.reverse else samples), targets

    def _rows(self, index: int) -> np.ndarray:
        """The ends of the windows of a batch; any places if they are shuffled."""
        end = self.end_index + 1
        if self.shuffle:
            return np.random.randint(self.start_index, end, size=self.batch_size)
        steps = self.batch_size * self.stride
        first = self.start_index + steps * index
        return np.arange(first, min(first + steps, end), self.stride)

    def get_config(self) -> dict[str, Any]:
        """Settings, and the data as JSON."""
        names = (
            "length sampling_rate stride start_index end_index shuffle reverse batch_size".split()
        )
        config = {
            "data": _as_json(self.data, "Data"),
            "targets": _as_json(self.targets, "Targets"),
        }
        return config | {name: getattr(self, name) for name in names}

    def to_json(self, **kwargs: Any) -> str:
        """The text that `timeseries_generator_from_json` reads."""
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(config, **kwargs)


def _as_json(values: Any, what: str) -> str:
    plain = values.tolist() if isinstance(values, (np.ndarray, np.generic)) else values
    try:
        return json.dumps(plain)
    except TypeError as error:
        raise TypeError(f"{what} not JSON Serializable:", values) from error


def timeseries_generator_from_json(json_string: str) -> TimeseriesGenerator:
    """The generator that `to_json` was called on."""
    config = json.loads(json_string)["config"]
    data, targets = json.loads(config.pop("data")), json.loads(config.pop("targets"))
    # What is kept counts from the first target; the constructor adds the window again.
    config["start_index"] -= config["length"]
    return TimeseriesGenerator(np.array(data), np.array(targets), **config)
