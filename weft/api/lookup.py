"""tf.lookup: public names, re-exported from where they are made."""

from weft.api import lookup_experimental as experimental
from weft.ops.lookup import (
    StaticHashTable as StaticHashTable,
)
from weft.ops.lookup import (
    StaticVocabularyTable as StaticVocabularyTable,
)
from weft.ops.lookup_init import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
)
from weft.ops.lookup_init import (
    TextFileIndex as TextFileIndex,
)
from weft.ops.lookup_init import (
    TextFileInitializer as TextFileInitializer,
)
