"""tf.contrib.distribute: strategies of one replica."""

from weft.train.one_replica import MirroredStrategy as MirroredStrategy
from weft.train.one_replica import OneDeviceStrategy as OneDeviceStrategy
from weft.train.one_replica import Strategy as DistributionStrategy  # noqa: F401
from weft.train.one_replica import get_strategy as get_distribution_strategy  # noqa: F401
from weft.train.one_replica import get_strategy as get_strategy
from weft.train.one_replica import has_strategy as has_distribution_strategy  # noqa: F401
from weft.train.one_replica import has_strategy as has_strategy
