"""tf.contrib.cluster_resolver: where programs learn of their cluster."""

from weft.train.cluster_resolver import ClusterResolver as ClusterResolver
from weft.train.cluster_resolver import SimpleClusterResolver as SimpleClusterResolver
from weft.train.cluster_resolver import TFConfigClusterResolver as TFConfigClusterResolver
from weft.train.cluster_resolver import TPUClusterResolver as TPUClusterResolver
from weft.train.cluster_resolver import UnionClusterResolver as UnionClusterResolver
