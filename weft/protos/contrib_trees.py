"""Messages of tf.contrib.boosted_trees: how trees are learned, and the trees."""

from __future__ import annotations

from typing import Any

from weft.protos.declare import messages

_SPLIT = """
    1 feature_column int32
    5 dimension_id int32
    2 threshold float
    3 left_id int32
    4 right_id int32
"""
_TREES = messages(
    "tensorflow/contrib/boosted_trees/proto/tree_config.proto",
    {
        "TreeNode": """
            1 leaf Leaf node
            2 dense_float_binary_split DenseFloatBinarySplit node
            3 sparse_float_binary_split_default_left SparseFloatBinarySplitDefaultLeft node
            4 sparse_float_binary_split_default_right SparseFloatBinarySplitDefaultRight node
            5 categorical_id_binary_split CategoricalIdBinarySplit node
            6 categorical_id_set_membership_binary_split CategoricalIdSetMembershipBinarySplit node
            777 node_metadata TreeNodeMetadata
        """,
        "TreeNodeMetadata": """
            1 gain float
            2 original_leaf Leaf
        """,
        "Leaf": """
            1 vector Vector leaf
            2 sparse_vector SparseVector leaf
        """,
        "Vector": "1 value [float]",
        "SparseVector": """
            1 index [int32]
            2 value [float]
        """,
        "DenseFloatBinarySplit": _SPLIT,
        "SparseFloatBinarySplitDefaultLeft": "1 split DenseFloatBinarySplit",
        "SparseFloatBinarySplitDefaultRight": "1 split DenseFloatBinarySplit",
        "CategoricalIdBinarySplit": """
            1 feature_column int32
            2 feature_id int64
            3 left_id int32
            4 right_id int32
        """,
        "CategoricalIdSetMembershipBinarySplit": """
            1 feature_column int32
            2 feature_ids [int64]
            3 left_id int32
            4 right_id int32
        """,
        "DecisionTreeConfig": "1 nodes [TreeNode]",
        "DecisionTreeMetadata": """
            1 num_tree_weight_updates int32
            2 num_layers_grown int32
            3 is_finalized bool
        """,
        "GrowingMetadata": """
            1 num_trees_attempted int64
            2 num_layers_attempted int64
            3 used_handler_ids [int64]
        """,
        "DecisionTreeEnsembleConfig": """
            1 trees [DecisionTreeConfig]
            2 tree_weights [float]
            3 tree_metadata [DecisionTreeMetadata]
            4 growing_metadata GrowingMetadata
        """,
        "TreeRegularizationConfig": """
            1 l1 float
            2 l2 float
            3 tree_complexity float
        """,
        "TreeConstraintsConfig": """
            1 max_tree_depth uint32
            2 min_node_weight float
            3 max_number_of_unique_feature_columns int64
        """,
        "LearningRateFixedConfig": "1 learning_rate float",
        "LearningRateDropoutDrivenConfig": """
            1 dropout_probability float
            2 probability_of_skipping_dropout float
            3 learning_rate float
        """,
        "LearningRateLineSearchConfig": """
            1 max_learning_rate float
            2 num_steps int32
        """,
        "LearningRateConfig": """
            1 fixed LearningRateFixedConfig tuner
            2 dropout LearningRateDropoutDrivenConfig tuner
            3 line_search LearningRateLineSearchConfig tuner
        """,
        "AveragingConfig": """
            1 average_last_n_trees float config
            2 average_last_percent_trees float config
        """,
        "LearnerConfig": """
            1 num_classes uint32
            2 feature_fraction_per_tree float feature_fraction
            3 feature_fraction_per_level float feature_fraction
            4 regularization TreeRegularizationConfig
            5 constraints TreeConstraintsConfig
            8 pruning_mode PruningMode
            9 growing_mode GrowingMode
            6 learning_rate_tuner LearningRateConfig
            10 multi_class_strategy MultiClassStrategy
            11 averaging_config AveragingConfig
            12 weak_learner_type WeakLearnerType
            13 each_tree_start DecisionTreeConfig
            14 each_tree_start_num_layers int32
        """,
    },
    enums={
        "PruningMode": ("PRUNING_MODE_UNSPECIFIED", "PRE_PRUNE", "POST_PRUNE"),
        "GrowingMode": ("GROWING_MODE_UNSPECIFIED", "WHOLE_TREE", "LAYER_BY_LAYER"),
        "MultiClassStrategy": (
            "MULTI_CLASS_STRATEGY_UNSPECIFIED",
            "TREE_PER_CLASS",
            "FULL_HESSIAN",
            "DIAGONAL_HESSIAN",
        ),
        "WeakLearnerType": ("NORMAL_DECISION_TREE", "OBLIVIOUS_DECISION_TREE"),
    },
    package="tensorflow.boosted_trees.learner",
)


def _with_enums(message: Any) -> Any:
    """A message class that has the values of its enums, as if they were declared inside of it."""
    for field in message.DESCRIPTOR.fields:
        for value in field.enum_type.values if field.enum_type else ():
            setattr(message, value.name, value.number)
    return message


TreeNode = _TREES["TreeNode"]
Leaf = _TREES["Leaf"]
DecisionTreeConfig = _TREES["DecisionTreeConfig"]
DecisionTreeEnsembleConfig = _TREES["DecisionTreeEnsembleConfig"]
LearnerConfig = _with_enums(_TREES["LearnerConfig"])
LearningRateConfig = _TREES["LearningRateConfig"]
LearningRateFixedConfig = _TREES["LearningRateFixedConfig"]
LearningRateDropoutDrivenConfig = _TREES["LearningRateDropoutDrivenConfig"]
LearningRateLineSearchConfig = _TREES["LearningRateLineSearchConfig"]
TreeRegularizationConfig = _TREES["TreeRegularizationConfig"]
TreeConstraintsConfig = _TREES["TreeConstraintsConfig"]
AveragingConfig = _TREES["AveragingConfig"]
