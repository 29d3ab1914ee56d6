# Written by `make stubs` from weft/api/train/__init__.py and the functions that it exports.
from collections.abc import Sequence as _Sequence
from typing import Any as _Any
from weft.graph.tensor import Tensor as _Tensor
import builtins as _builtins
from tensorboard.compat.proto.cluster_pb2 import ClusterDef as ClusterDef
from tensorboard.compat.proto.cluster_pb2 import JobDef as JobDef
from tensorboard.compat.proto.saver_pb2 import SaverDef as SaverDef
from weft.graph.graph_io import write_graph as write_graph
from weft.graph.meta_graph import export_meta_graph as export_meta_graph
from weft.storage.events import summary_iterator as summary_iterator
from weft.ops.trees.sdca import sdca_fprint as sdca_fprint
from weft.ops.trees.sdca import sdca_optimizer as sdca_optimizer
from weft.ops.trees.sdca import sdca_shrink_l1 as sdca_shrink_l1
from weft.protos.example import BytesList as BytesList
from weft.protos.example import Example as Example
from weft.protos.example import Feature as Feature
from weft.protos.example import FeatureList as FeatureList
from weft.protos.example import FeatureLists as FeatureLists
from weft.protos.example import Features as Features
from weft.protos.example import FloatList as FloatList
from weft.protos.example import Int64List as Int64List
from weft.protos.example import SequenceExample as SequenceExample
from weft.protos.server import ServerDef as ServerDef
from weft.lib.tools.quantize_training import do_quantize_training_on_graphdef as do_quantize_training_on_graphdef
from weft.lib.train.optimizers.adadelta import AdadeltaOptimizer as AdadeltaOptimizer
from weft.lib.train.optimizers.adagrad import AdagradOptimizer as AdagradOptimizer
from weft.lib.train.optimizers.adagrad_da import AdagradDAOptimizer as AdagradDAOptimizer
from weft.lib.train.optimizers.adam import AdamOptimizer as AdamOptimizer
from weft.lib.train.sessions.basic_loops import basic_train_loop as basic_train_loop
from weft.lib.train.checkpoint.checkpoint import Checkpoint as Checkpoint
from weft.lib.train.checkpoint.management import checkpoint_exists as checkpoint_exists
from weft.lib.train.checkpoint.management import CheckpointManager as CheckpointManager
from weft.lib.train.checkpoint.management import generate_checkpoint_state_proto as generate_checkpoint_state_proto
from weft.lib.train.checkpoint.management import get_checkpoint_mtimes as get_checkpoint_mtimes
from weft.lib.train.checkpoint.management import get_checkpoint_state as get_checkpoint_state
from weft.lib.train.checkpoint.management import latest_checkpoint as latest_checkpoint
from weft.lib.train.checkpoint.management import remove_checkpoint as remove_checkpoint
from weft.lib.train.checkpoint.management import update_checkpoint_state as update_checkpoint_state
from weft.lib.train.checkpoint.reader import NewCheckpointReader as NewCheckpointReader
from weft.lib.train.checkpoint.inspection import checkpoints_iterator as checkpoints_iterator
from weft.lib.train.checkpoint.inspection import init_from_checkpoint as init_from_checkpoint
from weft.lib.train.checkpoint.inspection import list_variables as list_variables
from weft.lib.train.checkpoint.inspection import load_checkpoint as load_checkpoint
from weft.lib.train.checkpoint.inspection import load_variable as load_variable
from weft.lib.train.checkpoint.warm_start import VocabInfo as VocabInfo
from weft.lib.train.checkpoint.warm_start import warm_start as warm_start
from weft.lib.train.cluster.cluster_spec import ClusterSpec as ClusterSpec
from weft.lib.train.sessions.coordinator import Coordinator as Coordinator
from weft.lib.train.sessions.coordinator import LooperThread as LooperThread
from weft.lib.train.cluster.device_setter import replica_device_setter as replica_device_setter
from weft.lib.train.optimizers.ftrl import FtrlOptimizer as FtrlOptimizer
from weft.lib.train.optimizers.gradient_descent import GradientDescentOptimizer as GradientDescentOptimizer
from weft.lib.train.sessions.hooks import FeedFnHook as FeedFnHook
from weft.lib.train.sessions.hooks import FinalOpsHook as FinalOpsHook
from weft.lib.train.sessions.hooks import GlobalStepWaiterHook as GlobalStepWaiterHook
from weft.lib.train.sessions.hooks import LoggingTensorHook as LoggingTensorHook
from weft.lib.train.sessions.hooks import NanLossDuringTrainingError as NanLossDuringTrainingError
from weft.lib.train.sessions.hooks import NanTensorHook as NanTensorHook
from weft.lib.train.sessions.hooks import SecondOrStepTimer as SecondOrStepTimer
from weft.lib.train.sessions.hooks import StepCounterHook as StepCounterHook
from weft.lib.train.sessions.hooks import StopAtStepHook as StopAtStepHook
from weft.lib.train.sessions.hooks_saving import CheckpointSaverHook as CheckpointSaverHook
from weft.lib.train.sessions.hooks_saving import CheckpointSaverListener as CheckpointSaverListener
from weft.lib.train.sessions.hooks_saving import ProfilerHook as ProfilerHook
from weft.lib.train.sessions.hooks_saving import SummarySaverHook as SummarySaverHook
from weft.lib.train.input.queues import input_producer as input_producer
from weft.lib.train.input.queues import limit_epochs as limit_epochs
from weft.lib.train.input.queues import match_filenames_once as match_filenames_once
from weft.lib.train.input.queues import maybe_batch as maybe_batch
from weft.lib.train.input.queues import maybe_batch_join as maybe_batch_join
from weft.lib.train.input.queues import maybe_shuffle_batch as maybe_shuffle_batch
from weft.lib.train.input.queues import maybe_shuffle_batch_join as maybe_shuffle_batch_join
from weft.lib.train.input.queues import range_input_producer as range_input_producer
from weft.lib.train.input.queues import slice_input_producer as slice_input_producer
from weft.lib.train.input.queues import string_input_producer as string_input_producer
from weft.lib.train.checkpoint.meta_graph import import_meta_graph as import_meta_graph
from weft.lib.train.optimizers.momentum import MomentumOptimizer as MomentumOptimizer
from weft.lib.train.sessions.monitored_session import ChiefSessionCreator as ChiefSessionCreator
from weft.lib.train.sessions.monitored_session import MonitoredSession as MonitoredSession
from weft.lib.train.sessions.monitored_session import MonitoredTrainingSession as MonitoredTrainingSession
from weft.lib.train.sessions.monitored_session import SessionCreator as SessionCreator
from weft.lib.train.sessions.monitored_session import SingularMonitoredSession as SingularMonitoredSession
from weft.lib.train.sessions.monitored_session import WorkerSessionCreator as WorkerSessionCreator
from weft.lib.train.optimizers.moving_averages import ExponentialMovingAverage as ExponentialMovingAverage
from weft.lib.train.optimizers.optimizer import Optimizer as Optimizer
from weft.lib.train.optimizers.proximal import ProximalAdagradOptimizer as ProximalAdagradOptimizer
from weft.lib.train.optimizers.proximal import ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer
from weft.lib.train.input.queue_runner import add_queue_runner as add_queue_runner
from weft.lib.train.input.queue_runner import QueueRunner as QueueRunner
from weft.lib.train.input.queue_runner import start_queue_runners as start_queue_runners
from weft.lib.train.optimizers.rmsprop import RMSPropOptimizer as RMSPropOptimizer
from weft.lib.train.checkpoint.saver import Saver as Saver
from weft.lib.train.sessions.scaffold import Scaffold as Scaffold
from weft.lib.train.sessions.session_manager import SessionManager as SessionManager
from weft.lib.train.sessions.session_run_hook import SessionRunArgs as SessionRunArgs
from weft.lib.train.sessions.session_run_hook import SessionRunContext as SessionRunContext
from weft.lib.train.sessions.session_run_hook import SessionRunHook as SessionRunHook
from weft.lib.train.sessions.session_run_hook import SessionRunValues as SessionRunValues
from weft.lib.train.sessions.supervisor import Supervisor as Supervisor
from weft.lib.train.optimizers.sync_replicas import SyncReplicasOptimizer as SyncReplicasOptimizer
from weft.ops.state.global_step import assert_global_step as assert_global_step
from weft.ops.state.global_step import create_global_step as create_global_step
from weft.ops.state.global_step import get_global_step as get_global_step
from weft.ops.state.global_step import get_or_create_global_step as get_or_create_global_step
from weft.ops.state.global_step import global_step as global_step
from weft.api.train import experimental as experimental
from weft.api.train import queue_runner as queue_runner
from weft.cluster.server import Server as Server
def batch(tensors: _Any, batch_size: _Any, num_threads: _builtins.int = 1, capacity: _builtins.int = 32, enqueue_many: _builtins.bool = False, shapes: _Any = None, dynamic_pad: _builtins.bool = False, allow_smaller_final_batch: _builtins.bool = False, shared_name: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def batch_join(tensors_list: _Sequence[_Any], batch_size: _Any, capacity: _builtins.int = 32, enqueue_many: _builtins.bool = False, shapes: _Any = None, dynamic_pad: _builtins.bool = False, allow_smaller_final_batch: _builtins.bool = False, shared_name: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def shuffle_batch(tensors: _Any, batch_size: _Any, capacity: _builtins.int, min_after_dequeue: _builtins.int, num_threads: _builtins.int = 1, seed: _builtins.int | None = None, enqueue_many: _builtins.bool = False, shapes: _Any = None, allow_smaller_final_batch: _builtins.bool = False, shared_name: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def shuffle_batch_join(tensors_list: _Sequence[_Any], batch_size: _Any, capacity: _builtins.int, min_after_dequeue: _builtins.int, seed: _builtins.int | None = None, enqueue_many: _builtins.bool = False, shapes: _Any = None, allow_smaller_final_batch: _builtins.bool = False, shared_name: _builtins.str | None = None, name: _builtins.str | None = None) -> _Any: ...
def cosine_decay(learning_rate: _Any, global_step: _Any, decay_steps: _Any, alpha: _builtins.float = 0.0, name: _builtins.str | None = None) -> _Tensor: ...
def cosine_decay_restarts(learning_rate: _Any, global_step: _Any, first_decay_steps: _Any, t_mul: _Any = 2.0, m_mul: _Any = 1.0, alpha: _Any = 0.0, name: _builtins.str | None = None) -> _Tensor: ...
def exponential_decay(learning_rate: _Any, global_step: _Any, decay_steps: _Any, decay_rate: _Any, staircase: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
def inverse_time_decay(learning_rate: _Any, global_step: _Any, decay_steps: _Any, decay_rate: _Any, staircase: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def linear_cosine_decay(learning_rate: _Any, global_step: _Any, decay_steps: _Any, num_periods: _Any = 0.5, alpha: _Any = 0.0, beta: _Any = 0.001, name: _builtins.str | None = None) -> _Tensor: ...
def natural_exp_decay(learning_rate: _Any, global_step: _Any, decay_steps: _Any, decay_rate: _Any, staircase: _builtins.bool = False, name: _builtins.str | None = None) -> _Any: ...
def noisy_linear_cosine_decay(learning_rate: _Any, global_step: _Any, decay_steps: _Any, initial_variance: _Any = 1.0, variance_decay: _Any = 0.55, num_periods: _Any = 0.5, alpha: _Any = 0.0, beta: _Any = 0.001, name: _builtins.str | None = None) -> _Tensor: ...
def piecewise_constant(x: _Any, boundaries: _Any, values: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def piecewise_constant_decay(x: _Any, boundaries: _Any, values: _Any, name: _builtins.str | None = None) -> _Tensor: ...
def polynomial_decay(learning_rate: _Any, global_step: _Any, decay_steps: _Any, end_learning_rate: _Any = 0.0001, power: _Any = 1.0, cycle: _builtins.bool = False, name: _builtins.str | None = None) -> _Tensor: ...
