"""Tokenizers: errors, and saving them."""

from __future__ import annotations

import pytest

from weft.lib.keras.preprocessing.text import Tokenizer, one_hot, tokenizer_from_json


def test_a_tokenizer_survives_json() -> None:
    tokenizer = Tokenizer(num_words=10, oov_token="?")
    tokenizer.fit_on_texts(["the cat", "the dog"])
    again = tokenizer_from_json(tokenizer.to_json())
    assert again.get_config() == tokenizer.get_config()
    assert again.texts_to_sequences(["the bird"]) == [[2, 1]]
    assert again.index_word[2] == "the"


def test_matrices_need_a_width() -> None:
    with pytest.raises(ValueError, match="Specify a dimension"):
        Tokenizer().sequences_to_matrix([[1]])
    with pytest.raises(ValueError, match="Fit the Tokenizer"):
        Tokenizer(num_words=3).sequences_to_matrix([[1]], mode="tfidf")
    with pytest.raises(ValueError, match="Unknown vectorization mode"):
        Tokenizer(num_words=3).sequences_to_matrix([[1]], mode="other")
    with pytest.raises(TypeError, match="Unrecognized keyword"):
        Tokenizer(words=3)


def test_sequences_count_as_documents() -> None:
    tokenizer = Tokenizer(num_words=4)
    tokenizer.fit_on_sequences([[1, 2, 2], [2]])
    assert tokenizer.document_count == 2
    assert dict(tokenizer.index_docs) == {1: 1, 2: 2}


def test_words_that_are_equal_have_one_number() -> None:
    first, other, again = one_hot("cat dog cat", 100)
    assert first == again
    assert 1 <= other < 100
