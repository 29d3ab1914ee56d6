# Written by `make stubs` from weft/api/lookup/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.ops.lookup.tables import StaticHashTable as StaticHashTable
from weft.ops.lookup.tables import StaticVocabularyTable as StaticVocabularyTable
from weft.ops.lookup.initializers import KeyValueTensorInitializer as KeyValueTensorInitializer
from weft.ops.lookup.initializers import TextFileIndex as TextFileIndex
from weft.ops.lookup.initializers import TextFileInitializer as TextFileInitializer
from weft.api.lookup import experimental as experimental
