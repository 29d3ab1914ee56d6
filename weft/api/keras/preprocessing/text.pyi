# Written by `make stubs` from weft/api/keras/preprocessing/text.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.preprocessing.text import hashing_trick as hashing_trick
from weft.lib.keras.preprocessing.text import one_hot as one_hot
from weft.lib.keras.preprocessing.text import text_to_word_sequence as text_to_word_sequence
from weft.lib.keras.preprocessing.text import Tokenizer as Tokenizer
from weft.lib.keras.preprocessing.text import tokenizer_from_json as tokenizer_from_json
