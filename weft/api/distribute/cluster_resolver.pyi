# Written by `make stubs` from weft/api/distribute/cluster_resolver.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.train.cluster.cluster_resolver import ClusterResolver as ClusterResolver
from weft.lib.train.cluster.cluster_resolver import SimpleClusterResolver as SimpleClusterResolver
from weft.lib.train.cluster.cluster_resolver import TFConfigClusterResolver as TFConfigClusterResolver
from weft.lib.train.cluster.cluster_resolver import TPUClusterResolver as TPUClusterResolver
from weft.lib.train.cluster.cluster_resolver import UnionClusterResolver as _is_UnionResolver
UnionResolver = _is_UnionResolver
