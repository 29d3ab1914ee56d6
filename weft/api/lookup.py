"""tf.lookup: public names, re-exported from where they are made."""

from weft.ops.lookup import (
    StaticHashTable as StaticHashTable,
    StaticVocabularyTable as StaticVocabularyTable,
)
from weft.ops.lookup_init import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
    TextFileIndex as TextFileIndex,
    TextFileInitializer as TextFileInitializer,
)
from weft.api import lookup_experimental as experimental
