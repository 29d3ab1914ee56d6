"""tf.contrib.text: pairs of words that stand near each other."""

from __future__ import annotations

import csv
from typing import Any

from weft.core import dtypes
from weft.graph.graph import name_scope
from weft.graph.op_def import raw
from weft.graph.random_seed import get_seed
from weft.graph.tensor import Tensor
from weft.lib.train.input.queues import batch
from weft.ops.array import array
from weft.ops.array.one_hot_search import boolean_mask
from weft.ops.lookup.initializers import TextFileInitializer
from weft.ops.lookup.tables import HashTable, InitializableLookupTableBase
from weft.ops.math import casts, math
from weft.ops.random.random import random_uniform
from weft.storage.file_io import GFile


def skip_gram_sample(
    input_tensor: Any,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    vocab_freq_table: Any = None,
    vocab_min_count: Any = None,
    vocab_subsampling: float | None = None,
    corpus_size: Any = None,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """(tokens, labels): each token with each of its neighbours, in windows of random widths.

    Given a table of frequencies, words that are not in it or too rare are left out first, and the
    most frequent ones at random.
    """
    useless = (vocab_min_count, vocab_subsampling, corpus_size)
    if vocab_freq_table is None and any(each is not None for each in useless):
        raise ValueError(
            "vocab_freq_table is not provided, but vocab_min_count={}, vocab_subsampling={}, or "
            "corpus_size={} is not None. These settings are useless without a "
            "vocab_freq_table.".format(*useless)
        )
    if (vocab_subsampling is None) != (corpus_size is None):
        raise ValueError(
            f"vocab_subsampling is {vocab_subsampling} while corpus_size is {corpus_size} - both "
            "must be provided in order for subsampling to work."
        )
    with name_scope(name, "skip_gram_sample", [input_tensor, min_skips, max_skips, start, limit]):
        kept = input_tensor
        if vocab_freq_table is not None:
            kept, counts = _known(kept, vocab_freq_table, vocab_min_count)
            if vocab_subsampling:
                kept = _thinned(kept, counts, vocab_subsampling, corpus_size, seed)
        seeds = dict(zip(("seed", "seed2"), get_seed(seed), strict=True))
        window = min_skips, max_skips, start, limit, emit_self_as_target
        pairs = raw.SkipGramGenerateCandidates(kept, *window, **seeds)
        if not batch_size or batch_size < 0:
            return tuple(pairs)
        room = batch_capacity if batch_capacity and batch_capacity > 0 else 100 * batch_size
        return batch(list(pairs), batch_size, capacity=room, enqueue_many=True)


def _known(words: Any, table: Any, least: Any) -> tuple[Tensor, Tensor]:
    """(words that a table knows and that are frequent enough, their counts)"""
    if not isinstance(table, InitializableLookupTableBase):
        raise ValueError(
            "vocab_freq_table must be a subclass of InitializableLookupTableBase (such as "
            f"HashTable) instead of type {type(table)}."
        )
    with name_scope("filter_vocab", values=[words]):
        counts = table.lookup(words)
        wanted = math.not_equal(counts, table.default_value)
        if least is not None:
            wanted = math.logical_and(wanted, counts >= casts.cast(least, counts.dtype))
        return boolean_mask(words, wanted), boolean_mask(counts, wanted)


def _thinned(words: Tensor, counts: Tensor, share: float, total: Any, seed: Any) -> Tensor:
    """Words, of which those more frequent than a share of all are left out now and then."""
    if not 0 <= share <= 1:
        raise ValueError(f"Invalid vocab_subsampling={share} - it should be within range [0, 1].")
    with name_scope("subsample_vocab", values=[words, counts]):
        often = casts.cast(counts, dtypes.float64)
        allowed = casts.cast(share, dtypes.float64) * casts.cast(total, dtypes.float64)
        chance = (math.sqrt(often / allowed) + 1.0) * (allowed / often)
        drawn = random_uniform(array.shape(often), dtype=dtypes.float64, seed=seed)
        return boolean_mask(words, drawn <= chance)


def skip_gram_sample_with_text_vocab(
    input_tensor: Any,
    vocab_freq_file: str,
    vocab_token_index: int = 0,
    vocab_token_dtype: Any = dtypes.string,
    vocab_freq_index: int = 1,
    vocab_freq_dtype: Any = dtypes.float64,
    vocab_delimiter: str = ",",
    vocab_min_count: Any = 0,
    vocab_subsampling: float | None = None,
    corpus_size: Any = None,
    min_skips: Any = 1,
    max_skips: Any = 5,
    start: Any = 0,
    limit: Any = -1,
    emit_self_as_target: Any = False,
    batch_size: int | None = None,
    batch_capacity: int | None = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """`skip_gram_sample` with the counts of words out of a file, in columns."""
    columns = vocab_token_index, vocab_freq_index
    if min(columns) < 0:
        raise ValueError(
            "vocab_token_index={} and vocab_freq_index={} must both be >= 0.".format(*columns)
        )
    if len(set(columns)) == 1:
        raise ValueError(
            "vocab_token_index and vocab_freq_index should be different, but are both "
            f"{vocab_token_index}."
        )
    counts = _counts(vocab_freq_file, columns, vocab_freq_dtype, vocab_delimiter)
    if corpus_size and sum(counts) - corpus_size > 1e-6:
        raise ValueError(
            f"`corpus_size`={corpus_size} must be greater than or equal to the sum of all the "
            f"frequency counts ({sum(counts)}) of `vocab_freq_file` ({vocab_freq_file})."
        )
    content = TextFileInitializer(
        vocab_freq_file, vocab_token_dtype, vocab_token_index, vocab_freq_dtype, vocab_freq_index,
        len(counts), vocab_delimiter,
    )  # fmt: skip
    total = corpus_size or sum(counts)
    return skip_gram_sample(
        input_tensor, min_skips, max_skips, start, limit, emit_self_as_target,
        HashTable(content, default_value=-1), vocab_min_count, vocab_subsampling,
        None if vocab_subsampling is None else total, batch_size, batch_capacity, seed, name,
    )  # fmt: skip


def _counts(path: str, columns: tuple[int, int], dtype: Any, delimiter: str) -> list[Any]:
    """The counts in a file, each of which is checked."""
    found = []
    with GFile(path, "r") as file:
        for row in csv.reader(file, delimiter=delimiter):
            if max(columns) >= len(row):
                raise ValueError(
                    "Row in vocab file only has {} columns, so vocab_token_index={} or "
                    "vocab_freq_index={} is out of bounds. Row content: {}".format(
                        len(row), *columns, row
                    )
                )
            count = dtype.as_numpy_dtype(row[columns[1]])
            if count < 0:
                raise ValueError(
                    f"Row in vocab file has negative frequency of {count}. Row content: {row}"
                )
            found.append(count)
    return found
