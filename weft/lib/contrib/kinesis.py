"""tf.contrib.kinesis: records of Amazon Kinesis."""

from weft.lib.contrib.services import Service as _Service

__all__ = ["KinesisDataset"]


class KinesisDataset(_Service):
    """Records of a stream; without a client of Kinesis' in this build, it cannot be made."""

    name = "Amazon Kinesis"
