"""tf.distribute.cluster_resolver: public names, re-exported from where they are made."""

from weft.lib.train.cluster.cluster_resolver import (
    ClusterResolver as ClusterResolver,
    SimpleClusterResolver as SimpleClusterResolver,
    TFConfigClusterResolver as TFConfigClusterResolver,
    TPUClusterResolver as TPUClusterResolver,
    UnionClusterResolver as UnionResolver,
)
