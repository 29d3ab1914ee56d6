"""tf.contrib.ignite: rows of Apache Ignite."""

from weft.lib.contrib.services import Service as _Service

__all__ = ["IgniteDataset"]


class IgniteDataset(_Service):
    """Rows of a cache; without a client of Ignite's in this build, it cannot be made."""

    name = "Apache Ignite"
