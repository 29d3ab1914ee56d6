"""tf.keras.preprocessing.text: public names, re-exported from where they are made."""

from weft.lib.keras.preprocessing.text import (
    hashing_trick as hashing_trick,
    one_hot as one_hot,
    text_to_word_sequence as text_to_word_sequence,
    Tokenizer as Tokenizer,
    tokenizer_from_json as tokenizer_from_json,
)
