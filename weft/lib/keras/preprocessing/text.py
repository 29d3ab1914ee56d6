"""Texts as sequences of numbers."""

from __future__ import annotations

import collections
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from weft.lib.platform import tf_logging as logging

FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(
    text: str, filters: str = FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """The words of a text: what is between `split` and the characters of `filters`."""
    text = text.lower() if lower else text
    separated = text.translate({ord(each): split for each in filters})
    return [word for word in separated.split(split) if word]


def one_hot(
    text: str, n: int, filters: str = FILTERS, lower: bool = True, split: str = " "
) -> list[int]:
    """Each word as a number from 1 to `n` - 1, by Python's hash: words may share one."""
    return hashing_trick(text, n, hash, filters, lower, split)


def hashing_trick(
    text: str,
    n: int,
    hash_function: Any = None,
    filters: str = FILTERS,
    lower: bool = True,
    split: str = " ",
) -> list[int]:
    """Each word as a number from 1 to `n` - 1; with "md5" the same in every process."""
    hashed: Callable[[str], int] = hash_function or hash
    if hash_function == "md5":
        hashed = _md5
    words = text_to_word_sequence(text, filters, lower, split)
    return [hashed(word) % (n - 1) + 1 for word in words]


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode()).hexdigest(), 16)


class Tokenizer:
    """Numbers words by how often they occur: 1 is the most frequent, 0 is never a word.

    Only the `num_words` - 1 most frequent are used; others become `oov_token`, if there is one.
    """

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
        document_count: int = 0,
        **kwargs: Any,
    ) -> None:
        if "nb_words" in kwargs:
            logging.warning("The `nb_words` argument in `Tokenizer` has been renamed `num_words`.")
            num_words = kwargs.pop("nb_words")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {kwargs}")
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token = char_level, oov_token
        self.document_count = document_count
        self.word_counts: dict[str, int] = collections.OrderedDict()
        self.word_docs: dict[str, int] = collections.defaultdict(int)
        self.index_docs: dict[int, int] = collections.defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}

    def _words(self, text: Any) -> Any:
        """The words or characters of a text; a list is taken to be its words."""
        if not self.char_level and not isinstance(text, list):
            return text_to_word_sequence(text, self.filters, self.lower, self.split)
        if not self.lower:
            return text
        return [each.lower() for each in text] if isinstance(text, list) else text.lower()

    # ---- learning ----

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Counts the words of `texts`, and numbers all that were seen so far."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in set(words):
                self.word_docs[word] += 1
        ranked = sorted(self.word_counts, key=lambda word: -self.word_counts[word])
        if self.oov_token is not None:
            ranked.insert(0, self.oov_token)
        self.word_index = {word: i for i, word in enumerate(ranked, 1)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Any) -> None:
        """Counts in how many of `sequences` each number occurs."""
        self.document_count += len(sequences)
        for sequence in sequences:
            for index in set(sequence):
                self.index_docs[index] += 1

    # ---- texts to numbers and back ----

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """One list of numbers for each text."""
        unknown = self._unknown_index()
        for text in texts:
            found = (self.word_index.get(word) for word in self._words(text))
            used = (unknown if i is None or self._is_rare(i) else i for i in found)
            yield [i for i in used if i is not None]

    def sequences_to_texts(self, sequences: Iterable[Any]) -> list[str]:
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Any]) -> Iterator[str]:
        """One text for each list of numbers, its words joined by spaces."""
        unknown = self._unknown_index()
        for sequence in sequences:
            known = (
                i if i in self.index_word and not self._is_rare(i) else unknown for i in sequence
            )
            yield " ".join(self.index_word[i] for i in known if i is not None)

    def _unknown_index(self) -> int | None:
        return None if self.oov_token is None else self.word_index.get(self.oov_token)

    def _is_rare(self, index: int) -> bool:
        return bool(self.num_words) and index >= (self.num_words or 0)

    # ---- matrices ----

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> np.ndarray:
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> np.ndarray:
        """A row for each sequence with, for each number, whether it occurs ("binary"), how often
        ("count", "freq"), or that weighted by how rare it is elsewhere ("tfidf")."""
        if not self.num_words and not self.word_index:
            raise ValueError(
                "Specify a dimension (`num_words` argument), or fit on some text data first."
            )
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        width = self.num_words or len(self.word_index) + 1
        matrix = np.zeros((len(sequences), width))
        for row, sequence in zip(matrix, sequences, strict=True):
            counts = collections.Counter(index for index in sequence if index < width)
            for index, count in counts.items():
                row[index] = self._weight(mode, index, count, len(sequence))
        return matrix

    def _weight(self, mode: str, index: int, count: int, length: int) -> float:
        if mode == "binary":
            return 1
        if mode == "count":
            return count
        if mode == "freq":
            return count / length
        if mode == "tfidf":
            rarity = np.log(1 + self.document_count / (1 + self.index_docs.get(index, 0)))
            return (1 + np.log(count)) * rarity
        raise ValueError("Unknown vectorization mode:", mode)

    # ---- saving ----

    def get_config(self) -> dict[str, Any]:
        """Settings and counts, the latter as JSON."""
        plain = ("num_words", "filters", "lower", "split", "char_level", "oov_token")
        tables = ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
        config = {name: getattr(self, name) for name in (*plain, "document_count")}
        return config | {name: json.dumps(getattr(self, name)) for name in tables}

    def to_json(self, **kwargs: Any) -> str:
        """The text that `tokenizer_from_json` reads; `kwargs` are those of `json.dumps`."""
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(config, **kwargs)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """The tokenizer that `to_json` was called on."""
    config = json.loads(json_string)["config"]
    words = {k: json.loads(config.pop(k)) for k in ("word_counts", "word_docs", "word_index")}
    numbers = {k: json.loads(config.pop(k)) for k in ("index_docs", "index_word")}
    tokenizer = Tokenizer(**config)
    vars(tokenizer).update(words)
    # Keys of JSON are strings.
    vars(tokenizer).update({k: {int(i): v for i, v in d.items()} for k, d in numbers.items()})
    return tokenizer
