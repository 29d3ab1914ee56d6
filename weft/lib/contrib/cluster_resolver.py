"""tf.contrib.cluster_resolver: where programs learn of their cluster."""

from weft.lib.train.cluster.cluster_resolver import ClusterResolver as ClusterResolver
from weft.lib.train.cluster.cluster_resolver import SimpleClusterResolver as SimpleClusterResolver
from weft.lib.train.cluster.cluster_resolver import (
    TFConfigClusterResolver as TFConfigClusterResolver,
)
from weft.lib.train.cluster.cluster_resolver import TPUClusterResolver as TPUClusterResolver
from weft.lib.train.cluster.cluster_resolver import UnionClusterResolver as UnionClusterResolver
