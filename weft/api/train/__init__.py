"""tf.train: public names, re-exported from where they are made."""

import importlib
from typing import TYPE_CHECKING

from tensorboard.compat.proto.cluster_pb2 import (
    ClusterDef as ClusterDef,
    JobDef as JobDef,
)
from tensorboard.compat.proto.saver_pb2 import SaverDef as SaverDef
from weft.graph.graph_io import write_graph as write_graph
from weft.graph.meta_graph import export_meta_graph as export_meta_graph
from weft.storage.events import summary_iterator as summary_iterator
from weft.ops.trees.sdca import (
    sdca_fprint as sdca_fprint,
    sdca_optimizer as sdca_optimizer,
    sdca_shrink_l1 as sdca_shrink_l1,
)
from weft.protos.example import (
    BytesList as BytesList,
    Example as Example,
    Feature as Feature,
    FeatureList as FeatureList,
    FeatureLists as FeatureLists,
    Features as Features,
    FloatList as FloatList,
    Int64List as Int64List,
    SequenceExample as SequenceExample,
)
from weft.protos.server import ServerDef as ServerDef
from weft.lib.tools.quantize_training import (
    do_quantize_training_on_graphdef as do_quantize_training_on_graphdef,
)
from weft.lib.train.optimizers.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from weft.lib.train.optimizers.adagrad import AdagradOptimizer as AdagradOptimizer
from weft.lib.train.optimizers.adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
from weft.lib.train.optimizers.adam import AdamOptimizer as AdamOptimizer
from weft.lib.train.sessions.basic_loops import basic_train_loop as basic_train_loop
from weft.lib.train.checkpoint.checkpoint import Checkpoint as Checkpoint
from weft.lib.train.checkpoint.management import (
    checkpoint_exists as checkpoint_exists,
    CheckpointManager as CheckpointManager,
    generate_checkpoint_state_proto as generate_checkpoint_state_proto,
    get_checkpoint_mtimes as get_checkpoint_mtimes,
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
    remove_checkpoint as remove_checkpoint,
    update_checkpoint_state as update_checkpoint_state,
)
from weft.lib.train.checkpoint.reader import NewCheckpointReader as NewCheckpointReader
from weft.lib.train.checkpoint.inspection import (
    checkpoints_iterator as checkpoints_iterator,
    init_from_checkpoint as init_from_checkpoint,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from weft.lib.train.checkpoint.warm_start import VocabInfo as VocabInfo, warm_start as warm_start
from weft.lib.train.cluster.cluster_spec import ClusterSpec as ClusterSpec
from weft.lib.train.sessions.coordinator import (
    Coordinator as Coordinator,
    LooperThread as LooperThread,
)
from weft.lib.train.cluster.device_setter import replica_device_setter as replica_device_setter
from weft.lib.train.optimizers.ftrl import FtrlOptimizer as FtrlOptimizer
from weft.lib.train.optimizers.gradient_descent import (
    GradientDescentOptimizer as GradientDescentOptimizer,
)
from weft.lib.train.sessions.hooks import (
    FeedFnHook as FeedFnHook,
    FinalOpsHook as FinalOpsHook,
    GlobalStepWaiterHook as GlobalStepWaiterHook,
    LoggingTensorHook as LoggingTensorHook,
    NanLossDuringTrainingError as NanLossDuringTrainingError,
    NanTensorHook as NanTensorHook,
    SecondOrStepTimer as SecondOrStepTimer,
    StepCounterHook as StepCounterHook,
    StopAtStepHook as StopAtStepHook,
)
from weft.lib.train.sessions.hooks_saving import (
    CheckpointSaverHook as CheckpointSaverHook,
    CheckpointSaverListener as CheckpointSaverListener,
    ProfilerHook as ProfilerHook,
    SummarySaverHook as SummarySaverHook,
)
from weft.lib.train.input.queues import (
    batch as batch,
    batch_join as batch_join,
    input_producer as input_producer,
    limit_epochs as limit_epochs,
    match_filenames_once as match_filenames_once,
    maybe_batch as maybe_batch,
    maybe_batch_join as maybe_batch_join,
    maybe_shuffle_batch as maybe_shuffle_batch,
    maybe_shuffle_batch_join as maybe_shuffle_batch_join,
    range_input_producer as range_input_producer,
    shuffle_batch as shuffle_batch,
    shuffle_batch_join as shuffle_batch_join,
    slice_input_producer as slice_input_producer,
    string_input_producer as string_input_producer,
)
from weft.lib.train.optimizers.learning_rate_decay import (
    cosine_decay as cosine_decay,
    cosine_decay_restarts as cosine_decay_restarts,
    exponential_decay as exponential_decay,
    inverse_time_decay as inverse_time_decay,
    linear_cosine_decay as linear_cosine_decay,
    natural_exp_decay as natural_exp_decay,
    noisy_linear_cosine_decay as noisy_linear_cosine_decay,
    piecewise_constant as piecewise_constant,
    piecewise_constant_decay as piecewise_constant_decay,
    polynomial_decay as polynomial_decay,
)
from weft.lib.train.checkpoint.meta_graph import import_meta_graph as import_meta_graph
from weft.lib.train.optimizers.momentum import MomentumOptimizer as MomentumOptimizer
from weft.lib.train.sessions.monitored_session import (
    ChiefSessionCreator as ChiefSessionCreator,
    MonitoredSession as MonitoredSession,
    MonitoredTrainingSession as MonitoredTrainingSession,
    SessionCreator as SessionCreator,
    SingularMonitoredSession as SingularMonitoredSession,
    WorkerSessionCreator as WorkerSessionCreator,
)
from weft.lib.train.optimizers.moving_averages import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from weft.lib.train.optimizers.optimizer import Optimizer as Optimizer
from weft.lib.train.optimizers.proximal import (
    ProximalAdagradOptimizer as ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
)
from weft.lib.train.input.queue_runner import (
    add_queue_runner as add_queue_runner,
    QueueRunner as QueueRunner,
    start_queue_runners as start_queue_runners,
)
from weft.lib.train.optimizers.rmsprop import RMSPropOptimizer as RMSPropOptimizer
from weft.lib.train.checkpoint.saver import Saver as Saver
from weft.lib.train.sessions.scaffold import Scaffold as Scaffold
from weft.lib.train.sessions.session_manager import SessionManager as SessionManager
from weft.lib.train.sessions.session_run_hook import (
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext,
    SessionRunHook as SessionRunHook,
    SessionRunValues as SessionRunValues,
)
from weft.lib.train.sessions.supervisor import Supervisor as Supervisor
from weft.lib.train.optimizers.sync_replicas import SyncReplicasOptimizer as SyncReplicasOptimizer
from weft.ops.state.global_step import (
    assert_global_step as assert_global_step,
    create_global_step as create_global_step,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    global_step as global_step,
)
from weft.api.train import experimental as experimental
from weft.api.train import queue_runner as queue_runner

if TYPE_CHECKING:
    from weft.cluster.server import Server as Server


def __getattr__(name: str) -> object:
    """The server brings all of the cluster with it: imported when it is first used."""
    if name != "Server":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    server: object = importlib.import_module("weft.cluster.server").Server
    globals()[name] = server
    return server


def __dir__() -> list[str]:
    return sorted({*globals(), "Server"})
