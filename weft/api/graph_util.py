"""tf.graph_util: public names, re-exported from where they are made."""

from weft.graph.importer import (
    import_graph_def as import_graph_def,
)
