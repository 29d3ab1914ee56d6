"""Film reviews as ranks of words, and whether they praise: 25,000 and 25,000."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.lib.keras.datasets import source

HASH = "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"
WORDS_HASH = "bfafd718b763782e994055a2d397834f"


def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> tuple[source.Arrays, source.Arrays]:
    """(reviews, 0 or 1) to train on, and to test on.

    Words ranked below `skip_top` or from `num_words` on become `oov_char`; reviews of `maxlen`
    words or more are left out; each begins with `start_char`; ranks start after `index_from`.
    """
    num_words = source.renamed_num_words(num_words, kwargs)
    with np.load(source.stored(path, "imdb.npz", HASH), allow_pickle=True) as f:
        train, test = (f["x_train"], f["y_train"]), (f["x_test"], f["y_test"])
    np.random.seed(seed)
    train, test = source.shuffled(*train, np.random), source.shuffled(*test, np.random)
    texts: Any = source.marked(np.concatenate([train[0], test[0]]), start_char, index_from)
    texts, labels = source.shorter(maxlen, texts, np.concatenate([train[1], test[1]]))
    if not texts:
        raise ValueError(
            f"After filtering for sequences shorter than maxlen={maxlen}, no sequence was kept. "
            "Increase maxlen."
        )
    texts = source.common(texts, num_words, skip_top, oov_char)
    at = len(train[0])
    return source.split(source.ragged(texts), labels, at)


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """Word -> its rank."""
    return source.word_index(path, "imdb_word_index.json", WORDS_HASH)
