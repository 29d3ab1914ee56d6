"""tf.contrib.learn.preprocessing: documents and categories as numbers."""

from __future__ import annotations

import math
import pickle
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from weft.core.compat import as_text
from weft.storage.file_io import GFile

# Words; runs of capitals and parts of CamelCase are words of their own.
TOKENIZER_RE = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z][a-z]+(?=[A-Z])|[\'\w\-]+", re.UNICODE)


def tokenizer(iterator: Iterable[str | bytes]) -> Iterator[list[str]]:
    """The words of each document: text, or bytes that are text in UTF-8."""
    for value in iterator:
        yield TOKENIZER_RE.findall(as_text(value))


class CategoricalVocabulary:
    """A number for each category; 0 is for all that are unknown."""

    def __init__(self, unknown_token: str = "<UNK>", support_reverse: bool = True) -> None:
        self._unknown_token, self._support_reverse = unknown_token, support_reverse
        self._freq: Any = defaultdict(int)
        self._freeze = False
        self._clear()

    def _clear(self) -> None:
        self._mapping = {self._unknown_token: 0}
        self._reverse_mapping = [self._unknown_token]

    def __len__(self) -> int:
        return len(self._mapping)

    def freeze(self, freeze: bool = True) -> None:
        """From now on categories that were not seen are unknown."""
        self._freeze = freeze

    def get(self, category: Any) -> int:
        """The number of a category, which is new unless the vocabulary is frozen."""
        if category not in self._mapping:
            if self._freeze:
                return 0
            self._append(category)
        return self._mapping[category]

    def _append(self, category: Any) -> None:
        self._mapping[category] = len(self._mapping)
        if self._support_reverse:
            self._reverse_mapping.append(category)

    def add(self, category: Any, count: int = 1) -> None:
        """Counts a category."""
        if self.get(category) > 0:
            self._freq[category] += count

    def trim(self, min_frequency: int, max_frequency: int = -1) -> None:
        """Keeps what is more frequent than `min_frequency`, the most frequent first."""
        by_name = sorted(self._freq.items(), key=lambda item: (isinstance(item[0], str), item[0]))
        by_count = sorted(by_name, key=lambda item: item[1], reverse=True)
        self._clear()
        for category, count in by_count:
            if count > min_frequency and not (max_frequency > 0 and count >= max_frequency):
                self._append(category)
        self._freq = dict(by_count[: len(self._mapping) - 1])

    def reverse(self, class_id: int) -> Any:
        """The category that has a number."""
        if not self._support_reverse:
            raise ValueError(
                "This vocabulary wasn't initialized with support_reverse to support reverse() "
                "function."
            )
        return self._reverse_mapping[class_id]


def _settle(vocabularies: Iterable[Any], min_frequency: int) -> None:
    """Freezes the vocabularies, without their rare entries."""
    for vocabulary in vocabularies:
        if min_frequency > 0:
            vocabulary.trim(min_frequency)
        vocabulary.freeze()


class VocabularyProcessor:
    """Documents as rows of word numbers, all of the same length.

    Args:
        max_document_length: longer documents are cut, shorter ones filled up with 0.
        min_frequency: rarer words become 0.
        vocabulary: a `CategoricalVocabulary`; None: one of the words it sees.
        tokenizer_fn: a function from documents to lists of words.

    Example:
        >>> processor = tf.contrib.learn.preprocessing.VocabularyProcessor(3)
        >>> [row.tolist() for row in processor.fit_transform(["a b", "b c a d"])]
        [[1, 2, 0], [2, 3, 1]]
    """

    def __init__(
        self,
        max_document_length: int,
        min_frequency: int = 0,
        vocabulary: Any = None,
        tokenizer_fn: Callable[[Any], Iterable[Any]] | None = None,
    ) -> None:
        self.max_document_length, self.min_frequency = max_document_length, min_frequency
        self.vocabulary_ = vocabulary or CategoricalVocabulary()
        self._tokenizer = tokenizer_fn or tokenizer

    def fit(self, raw_documents: Any, unused_y: Any = None) -> VocabularyProcessor:
        """Learns the words of the documents, and no others later."""
        for token in chain.from_iterable(self._tokenizer(raw_documents)):
            self.vocabulary_.add(token)
        _settle([self.vocabulary_], self.min_frequency)
        return self

    def fit_transform(self, raw_documents: Any, unused_y: Any = None) -> Iterator[np.ndarray]:
        self.fit(raw_documents)
        return self.transform(raw_documents)

    def transform(self, raw_documents: Any) -> Iterator[np.ndarray]:
        """Rows of numbers, cut or filled up with zeros."""
        for tokens in self._tokenizer(raw_documents):
            row = np.zeros(self.max_document_length, np.int64)
            known = [self.vocabulary_.get(token) for token in tokens[: self.max_document_length]]
            row[: len(known)] = known
            yield row

    def reverse(self, documents: Iterable[Any]) -> Iterator[str]:
        """The words of rows of numbers."""
        for row in documents:
            yield " ".join(self.vocabulary_.reverse(number) for number in row)

    def save(self, filename: str) -> None:
        with GFile(filename, "wb") as file:
            file.write(pickle.dumps(self))

    @classmethod
    def restore(cls, filename: str) -> VocabularyProcessor:
        with GFile(filename, "rb") as file:
            return pickle.loads(file.read())


class ByteProcessor:
    """Documents as rows of bytes, all of the same length."""

    def __init__(self, max_document_length: int) -> None:
        self.max_document_length = max_document_length

    def fit(self, x: Any) -> None:
        """There is nothing to learn about bytes."""

    def fit_transform(self, x: Any) -> Iterator[np.ndarray]:
        return self.transform(x)

    def transform(self, x: Any) -> Iterator[np.ndarray]:
        """Rows of bytes, cut or filled up with zeros."""
        for document in x:
            raw = document.encode() if isinstance(document, str) else document
            row = np.zeros(self.max_document_length, np.uint8)
            start = np.frombuffer(raw[: len(row)], np.uint8)
            row[: len(start)] = start
            yield row

    def reverse(self, x: Any) -> Iterator[str]:
        """The text of rows of bytes; empty where it is not UTF-8."""
        for row in x:
            try:
                yield np.trim_zeros(row.astype(np.int8), trim="b").tobytes().decode("utf-8")
            except UnicodeDecodeError:
                yield ""


class CategoricalProcessor:
    """Columns of categories as columns of numbers."""

    def __init__(
        self, min_frequency: int = 0, share: bool = False, vocabularies: Any = None
    ) -> None:
        self.min_frequency, self.share, self.vocabularies_ = min_frequency, share, vocabularies

    def freeze(self, freeze: bool = True) -> None:
        for vocabulary in self.vocabularies_:
            vocabulary.freeze(freeze)

    def fit(self, x: Any, unused_y: Any = None) -> CategoricalProcessor:
        for row in x:
            if self.vocabularies_ is None:
                one = CategoricalVocabulary()
                self.vocabularies_ = [one if self.share else CategoricalVocabulary() for _ in row]
            for vocabulary, value in zip(self.vocabularies_, row, strict=False):
                if not _is_nan(value):
                    vocabulary.add(value)
        _settle(self.vocabularies_, self.min_frequency)
        return self

    def fit_transform(self, x: Any, unused_y: Any = None) -> Iterator[np.ndarray]:
        self.fit(x)
        return self.transform(x)

    def transform(self, x: Any) -> Iterator[np.ndarray]:
        self.freeze()
        for row in x:
            numbers = [
                0 if _is_nan(value) else vocabulary.get(value)
                for vocabulary, value in zip(self.vocabularies_, row, strict=False)
            ]
            yield np.array(numbers, dtype=np.int64)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
