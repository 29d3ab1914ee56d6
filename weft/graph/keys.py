"""GraphKeys: the standard names of collections."""

from __future__ import annotations


class GraphKeys:
    """Names under which the library keeps variables, summaries, queue runners and the like.

    Attributes:
        GLOBAL_VARIABLES, LOCAL_VARIABLES: shared by all machines, and those of one process.
        TRAINABLE_VARIABLES: those that optimizers update.
        MODEL_VARIABLES, METRIC_VARIABLES, MOVING_AVERAGE_VARIABLES: those of these kinds.
        WEIGHTS, BIASES, ACTIVATIONS: parts of layers, where these collect them.
        LOSSES, REGULARIZATION_LOSSES: of `tf.losses`, and of regularizers.
        UPDATE_OPS: operations that a training step should run, such as those of batch norm.
        SUMMARIES, SUMMARY_OP: for `tf.summary.merge_all`, and the merged one.
        GLOBAL_STEP, EVAL_STEP: the counters of training and of an evaluation.
        TRAIN_OP, INIT_OP, LOCAL_INIT_OP, READY_OP, READY_FOR_LOCAL_INIT_OP: for supervisors.
        QUEUE_RUNNERS, TABLE_INITIALIZERS, SAVERS, SAVEABLE_OBJECTS, RESOURCES, LOCAL_RESOURCES: as
            their names say.
        ASSET_FILEPATHS: files that a SavedModel takes along.
        COND_CONTEXT, WHILE_CONTEXT: of control flow, for exports.

    Example:
        >>> v = tf.Variable(1.0)
        >>> tf.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES) == [v]
        True
    """

    GLOBAL_VARIABLES = "variables"
    LOCAL_VARIABLES = "local_variables"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    SUMMARIES = "summaries"
    QUEUE_RUNNERS = "queue_runners"
    TABLE_INITIALIZERS = "table_initializer"
    ASSET_FILEPATHS = "asset_filepaths"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    REGULARIZATION_LOSSES = "regularization_losses"
    CONCATENATED_VARIABLES = "concatenated_variables"
    SAVERS = "savers"
    WEIGHTS = "weights"
    BIASES = "biases"
    ACTIVATIONS = "activations"
    UPDATE_OPS = "update_ops"
    LOSSES = "losses"
    SAVEABLE_OBJECTS = "saveable_objects"
    RESOURCES = "resources"
    LOCAL_RESOURCES = "local_resources"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    READY_OP = "ready_op"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    SUMMARY_OP = "summary_op"
    GLOBAL_STEP = "global_step"
    EVAL_STEP = "eval_step"
    TRAIN_OP = "train_op"
    COND_CONTEXT = "cond_context"
    WHILE_CONTEXT = "while_context"
    VARIABLES = "variables"
    _SUMMARY_COLLECTION = "_SUMMARY_V2"
    _VARIABLE_COLLECTIONS = (
        GLOBAL_VARIABLES,
        LOCAL_VARIABLES,
        METRIC_VARIABLES,
        MODEL_VARIABLES,
        TRAINABLE_VARIABLES,
        MOVING_AVERAGE_VARIABLES,
        CONCATENATED_VARIABLES,
        TRAINABLE_RESOURCE_VARIABLES,
    )
    _STREAMING_MODEL_PORTS = "streaming_model_ports"
