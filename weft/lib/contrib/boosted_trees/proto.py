"""tf.contrib.boosted_trees.proto: messages of learners and of trees."""

from weft.protos import contrib_trees as learner_pb2
from weft.protos import contrib_trees as tree_config_pb2

__all__ = ["learner_pb2", "tree_config_pb2"]
