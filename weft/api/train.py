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

from weft.api import train_experimental as experimental
from weft.api import train_queue_runner as queue_runner
from weft.cluster.server import (
    Server as Server,
)
from weft.graph.graph_io import (
    write_graph as write_graph,
)
from weft.graph.meta_graph import (
    export_meta_graph as export_meta_graph,
)
from weft.io.events import (
    summary_iterator as summary_iterator,
)
from weft.protos.example import (
    BytesList as BytesList,
)
from weft.protos.example import (
    Example as Example,
)
from weft.protos.example import (
    Feature as Feature,
)
from weft.protos.example import (
    FeatureList as FeatureList,
)
from weft.protos.example import (
    FeatureLists as FeatureLists,
)
from weft.protos.example import (
    Features as Features,
)
from weft.protos.example import (
    FloatList as FloatList,
)
from weft.protos.example import (
    Int64List as Int64List,
)
from weft.protos.example import (
    SequenceExample as SequenceExample,
)
from weft.protos.server import (
    ServerDef as ServerDef,
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
from weft.train.basic_loops import (
    basic_train_loop as basic_train_loop,
)
from weft.train.checkpoint import (
    Checkpoint as Checkpoint,
)
from weft.train.checkpoint_management import (
    CheckpointManager as CheckpointManager,
)
from weft.train.checkpoint_management import (
    checkpoint_exists as checkpoint_exists,
)
from weft.train.checkpoint_management import (
    generate_checkpoint_state_proto as generate_checkpoint_state_proto,
)
from weft.train.checkpoint_management import (
    get_checkpoint_mtimes as get_checkpoint_mtimes,
)
from weft.train.checkpoint_management import (
    get_checkpoint_state as get_checkpoint_state,
)
from weft.train.checkpoint_management import (
    latest_checkpoint as latest_checkpoint,
)
from weft.train.checkpoint_management import (
    remove_checkpoint as remove_checkpoint,
)
from weft.train.checkpoint_management import (
    update_checkpoint_state as update_checkpoint_state,
)
from weft.train.checkpoint_reader import (
    NewCheckpointReader as NewCheckpointReader,
)
from weft.train.checkpoint_utils import (
    checkpoints_iterator as checkpoints_iterator,
)
from weft.train.checkpoint_utils import (
    init_from_checkpoint as init_from_checkpoint,
)
from weft.train.checkpoint_utils import (
    list_variables as list_variables,
)
from weft.train.checkpoint_utils import (
    load_checkpoint as load_checkpoint,
)
from weft.train.checkpoint_utils import (
    load_variable as load_variable,
)
from weft.train.checkpoint_warm_start import (
    VocabInfo as VocabInfo,
)
from weft.train.checkpoint_warm_start import (
    warm_start as warm_start,
)
from weft.train.cluster_spec import (
    ClusterSpec as ClusterSpec,
)
from weft.train.coordinator import (
    Coordinator as Coordinator,
)
from weft.train.coordinator import (
    LooperThread as LooperThread,
)
from weft.train.device_setter import (
    replica_device_setter as replica_device_setter,
)
from weft.train.ftrl import (
    FtrlOptimizer as FtrlOptimizer,
)
from weft.train.gradient_descent import (
    GradientDescentOptimizer as GradientDescentOptimizer,
)
from weft.train.hooks import (
    FeedFnHook as FeedFnHook,
)
from weft.train.hooks import (
    FinalOpsHook as FinalOpsHook,
)
from weft.train.hooks import (
    GlobalStepWaiterHook as GlobalStepWaiterHook,
)
from weft.train.hooks import (
    LoggingTensorHook as LoggingTensorHook,
)
from weft.train.hooks import (
    NanLossDuringTrainingError as NanLossDuringTrainingError,
)
from weft.train.hooks import (
    NanTensorHook as NanTensorHook,
)
from weft.train.hooks import (
    SecondOrStepTimer as SecondOrStepTimer,
)
from weft.train.hooks import (
    StepCounterHook as StepCounterHook,
)
from weft.train.hooks import (
    StopAtStepHook as StopAtStepHook,
)
from weft.train.hooks_saving import (
    CheckpointSaverHook as CheckpointSaverHook,
)
from weft.train.hooks_saving import (
    CheckpointSaverListener as CheckpointSaverListener,
)
from weft.train.hooks_saving import (
    ProfilerHook as ProfilerHook,
)
from weft.train.hooks_saving import (
    SummarySaverHook as SummarySaverHook,
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
from weft.train.monitored_session import (
    ChiefSessionCreator as ChiefSessionCreator,
)
from weft.train.monitored_session import (
    MonitoredSession as MonitoredSession,
)
from weft.train.monitored_session import (
    MonitoredTrainingSession as MonitoredTrainingSession,
)
from weft.train.monitored_session import (
    SessionCreator as SessionCreator,
)
from weft.train.monitored_session import (
    SingularMonitoredSession as SingularMonitoredSession,
)
from weft.train.monitored_session import (
    WorkerSessionCreator as WorkerSessionCreator,
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
from weft.train.saver import (
    Saver as Saver,
)
from weft.train.scaffold import (
    Scaffold as Scaffold,
)
from weft.train.session_manager import (
    SessionManager as SessionManager,
)
from weft.train.session_run_hook import (
    SessionRunArgs as SessionRunArgs,
)
from weft.train.session_run_hook import (
    SessionRunContext as SessionRunContext,
)
from weft.train.session_run_hook import (
    SessionRunHook as SessionRunHook,
)
from weft.train.session_run_hook import (
    SessionRunValues as SessionRunValues,
)
from weft.train.supervisor import (
    Supervisor as Supervisor,
)
from weft.train.sync_replicas import (
    SyncReplicasOptimizer as SyncReplicasOptimizer,
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
