"""tf.train: public names, re-exported from where they are made."""

from tensorboard.compat.proto.cluster_pb2 import (
    ClusterDef as ClusterDef,
)
from tensorboard.compat.proto.cluster_pb2 import (
    JobDef as JobDef,
)
from tensorboard.compat.proto.saver_pb2 import (
    SaverDef as SaverDef,
)

from weft.api import train_queue_runner as queue_runner
from weft.graph.graph_io import (
    write_graph as write_graph,
)
from weft.graph.meta_graph import (
    export_meta_graph as export_meta_graph,
)
from weft.train.adadelta import (
    AdadeltaOptimizer as AdadeltaOptimizer,
)
from weft.train.adagrad import (
    AdagradOptimizer as AdagradOptimizer,
)
from weft.train.adagrad_da import (
    AdagradDAOptimizer as AdagradDAOptimizer,
)
from weft.train.adam import (
    AdamOptimizer as AdamOptimizer,
)
from weft.train.coordinator import (
    Coordinator as Coordinator,
)
from weft.train.coordinator import (
    LooperThread as LooperThread,
)
from weft.train.ftrl import (
    FtrlOptimizer as FtrlOptimizer,
)
from weft.train.gradient_descent import (
    GradientDescentOptimizer as GradientDescentOptimizer,
)
from weft.train.input import (
    batch as batch,
)
from weft.train.input import (
    batch_join as batch_join,
)
from weft.train.input import (
    input_producer as input_producer,
)
from weft.train.input import (
    limit_epochs as limit_epochs,
)
from weft.train.input import (
    match_filenames_once as match_filenames_once,
)
from weft.train.input import (
    maybe_batch as maybe_batch,
)
from weft.train.input import (
    maybe_batch_join as maybe_batch_join,
)
from weft.train.input import (
    maybe_shuffle_batch as maybe_shuffle_batch,
)
from weft.train.input import (
    maybe_shuffle_batch_join as maybe_shuffle_batch_join,
)
from weft.train.input import (
    range_input_producer as range_input_producer,
)
from weft.train.input import (
    shuffle_batch as shuffle_batch,
)
from weft.train.input import (
    shuffle_batch_join as shuffle_batch_join,
)
from weft.train.input import (
    slice_input_producer as slice_input_producer,
)
from weft.train.input import (
    string_input_producer as string_input_producer,
)
from weft.train.learning_rate_decay import (
    cosine_decay as cosine_decay,
)
from weft.train.learning_rate_decay import (
    cosine_decay_restarts as cosine_decay_restarts,
)
from weft.train.learning_rate_decay import (
    exponential_decay as exponential_decay,
)
from weft.train.learning_rate_decay import (
    inverse_time_decay as inverse_time_decay,
)
from weft.train.learning_rate_decay import (
    linear_cosine_decay as linear_cosine_decay,
)
from weft.train.learning_rate_decay import (
    natural_exp_decay as natural_exp_decay,
)
from weft.train.learning_rate_decay import (
    noisy_linear_cosine_decay as noisy_linear_cosine_decay,
)
from weft.train.learning_rate_decay import (
    piecewise_constant as piecewise_constant,
)
from weft.train.learning_rate_decay import (
    piecewise_constant_decay as piecewise_constant_decay,
)
from weft.train.learning_rate_decay import (
    polynomial_decay as polynomial_decay,
)
from weft.train.meta_graph import (
    import_meta_graph as import_meta_graph,
)
from weft.train.momentum import (
    MomentumOptimizer as MomentumOptimizer,
)
from weft.train.moving_averages import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from weft.train.optimizer import (
    Optimizer as Optimizer,
)
from weft.train.proximal import (
    ProximalAdagradOptimizer as ProximalAdagradOptimizer,
)
from weft.train.proximal import (
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
)
from weft.train.queue_runner import (
    QueueRunner as QueueRunner,
)
from weft.train.queue_runner import (
    add_queue_runner as add_queue_runner,
)
from weft.train.queue_runner import (
    start_queue_runners as start_queue_runners,
)
from weft.train.rmsprop import (
    RMSPropOptimizer as RMSPropOptimizer,
)
from weft.train.training_util import (
    assert_global_step as assert_global_step,
)
from weft.train.training_util import (
    create_global_step as create_global_step,
)
from weft.train.training_util import (
    get_global_step as get_global_step,
)
from weft.train.training_util import (
    get_or_create_global_step as get_or_create_global_step,
)
from weft.train.training_util import (
    global_step as global_step,
)
