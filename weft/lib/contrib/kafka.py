"""tf.contrib.kafka: messages of Apache Kafka."""

from weft.lib.contrib.services import Service as _Service

__all__ = ["KafkaDataset"]


class KafkaDataset(_Service):
    """Messages of topics; without a client of Kafka's in this build, it cannot be made."""

    name = "Apache Kafka"
