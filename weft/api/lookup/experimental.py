"""tf.lookup.experimental: public names, re-exported from where they are made."""

from weft.lib.train.checkpoint.mutable_tables import DenseHashTable as DenseHashTable
