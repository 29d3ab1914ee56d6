"""tf.contrib.bigtable: rows of Google's Cloud Bigtable."""

from weft.lib.contrib.services import Service as _Service

__all__ = ["BigtableClient", "BigtableTable"]


class BigtableClient(_Service):
    """A connection to an instance of Bigtable, of which this build has no client."""

    name = "Cloud Bigtable"


class BigtableTable(_Service):
    """A table of Bigtable, of which this build has no client."""

    name = "Cloud Bigtable"
