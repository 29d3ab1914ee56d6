"""tf.train: public names, re-exported from where they are made."""

from tensorboard.compat.proto.cluster_pb2 import (
    ClusterDef as ClusterDef,
    JobDef as JobDef,
)
from tensorboard.compat.proto.saver_pb2 import SaverDef as SaverDef
from weft.cluster.server import Server as Server
from weft.graph.graph_io import write_graph as write_graph
from weft.graph.meta_graph import export_meta_graph as export_meta_graph
from weft.io.events import summary_iterator as summary_iterator
from weft.ops.sdca import (
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
from weft.train.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from weft.train.adagrad import AdagradOptimizer as AdagradOptimizer
from weft.train.adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
from weft.train.adam import AdamOptimizer as AdamOptimizer
from weft.train.basic_loops import basic_train_loop as basic_train_loop
from weft.train.checkpoint import Checkpoint as Checkpoint
from weft.train.checkpoint_management import (
    checkpoint_exists as checkpoint_exists,
    CheckpointManager as CheckpointManager,
    generate_checkpoint_state_proto as generate_checkpoint_state_proto,
    get_checkpoint_mtimes as get_checkpoint_mtimes,
    get_checkpoint_state as get_checkpoint_state,
    latest_checkpoint as latest_checkpoint,
    remove_checkpoint as remove_checkpoint,
    update_checkpoint_state as update_checkpoint_state,
)
from weft.train.checkpoint_reader import NewCheckpointReader as NewCheckpointReader
from weft.train.checkpoint_utils import (
    checkpoints_iterator as checkpoints_iterator,
    init_from_checkpoint as init_from_checkpoint,
    list_variables as list_variables,
    load_checkpoint as load_checkpoint,
    load_variable as load_variable,
)
from weft.train.checkpoint_warm_start import (
    VocabInfo as VocabInfo,
    warm_start as warm_start,
)
from weft.train.cluster_spec import ClusterSpec as ClusterSpec
from weft.train.coordinator import (
    Coordinator as Coordinator,
    LooperThread as LooperThread,
)
from weft.train.device_setter import replica_device_setter as replica_device_setter
from weft.train.ftrl import FtrlOptimizer as FtrlOptimizer
from weft.train.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from weft.train.hooks import (
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
from weft.train.hooks_saving import (
    CheckpointSaverHook as CheckpointSaverHook,
    CheckpointSaverListener as CheckpointSaverListener,
    ProfilerHook as ProfilerHook,
    SummarySaverHook as SummarySaverHook,
)
from weft.train.input import (
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
from weft.train.learning_rate_decay import (
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
from weft.train.meta_graph import import_meta_graph as import_meta_graph
from weft.train.momentum import MomentumOptimizer as MomentumOptimizer
from weft.train.monitored_session import (
    ChiefSessionCreator as ChiefSessionCreator,
    MonitoredSession as MonitoredSession,
    MonitoredTrainingSession as MonitoredTrainingSession,
    SessionCreator as SessionCreator,
    SingularMonitoredSession as SingularMonitoredSession,
    WorkerSessionCreator as WorkerSessionCreator,
)
from weft.train.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from weft.train.optimizer import Optimizer as Optimizer
from weft.train.proximal import (
    ProximalAdagradOptimizer as ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
)
from weft.train.queue_runner import (
    add_queue_runner as add_queue_runner,
    QueueRunner as QueueRunner,
    start_queue_runners as start_queue_runners,
)
from weft.train.rmsprop import RMSPropOptimizer as RMSPropOptimizer
from weft.train.saver import Saver as Saver
from weft.train.scaffold import Scaffold as Scaffold
from weft.train.session_manager import SessionManager as SessionManager
from weft.train.session_run_hook import (
    SessionRunArgs as SessionRunArgs,
    SessionRunContext as SessionRunContext,
    SessionRunHook as SessionRunHook,
    SessionRunValues as SessionRunValues,
)
from weft.train.supervisor import Supervisor as Supervisor
from weft.train.sync_replicas import SyncReplicasOptimizer as SyncReplicasOptimizer
from weft.train.training_util import (
    assert_global_step as assert_global_step,
    create_global_step as create_global_step,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    global_step as global_step,
)
from weft.api import train_experimental as experimental
from weft.api import train_queue_runner as queue_runner
