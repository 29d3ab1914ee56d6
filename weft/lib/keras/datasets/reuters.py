"""News as ranks of words, on 46 topics: 11,228 of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.lib.keras.datasets import source

HASH = "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916"
WORDS_HASH = "4d44cc38712099c9e383dc6e5f11a921"


def load_data(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int = 3,
    **kwargs: Any,
) -> tuple[source.Arrays, source.Arrays]:
    """(news, topics) to train on, and `test_split` of all of them to test on.

    Words and lengths are chosen as for the reviews of `imdb`.
    """
    num_words = source.renamed_num_words(num_words, kwargs)
    with np.load(source.stored(path, "reuters.npz", HASH), allow_pickle=True) as f:
        x, y = f["x"], f["y"]
    np.random.seed(seed)
    x, y = source.shuffled(x, y, np.random)
    x, y = source.shorter(maxlen, source.marked(x, start_char, index_from), y)
    texts = source.common(x, num_words, skip_top, oov_char)
    at = int(len(texts) * (1 - test_split))
    return source.split(source.ragged(texts), y, at)


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """Word -> its rank."""
    return source.word_index(path, "reuters_word_index.json", WORDS_HASH)
