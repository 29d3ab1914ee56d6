"""tf.lookup: public names, re-exported from where they are made."""

from weft.api import lookup_experimental as experimental
from weft.ops.lookup import (
    KeyValueTensorInitializer as KeyValueTensorInitializer,
)
from weft.ops.lookup import (
    StaticHashTable as StaticHashTable,
)
from weft.ops.lookup import (
    StaticVocabularyTable as StaticVocabularyTable,
)
from weft.ops.lookup import (
    TextFileIndex as TextFileIndex,
)
from weft.ops.lookup import (
    TextFileInitializer as TextFileInitializer,
)
