"""tf.contrib.eager (`tfe`): eager execution and what programs write it with."""

from __future__ import annotations

from weft.autodiff.custom_gradient import custom_gradient as custom_gradient
from weft.autodiff.tape import GradientTape as GradientTape
from weft.contrib.eager import metrics as metrics
from weft.contrib.eager.checkpoints import Saver as Saver
from weft.contrib.eager.checkpoints import get_optimizer_variables as get_optimizer_variables
from weft.contrib.eager.checkpoints import (
    restore_variables_on_create as restore_variables_on_create,
)
from weft.contrib.eager.functions import gradients_function as gradients_function
from weft.contrib.eager.functions import implicit_gradients as implicit_gradients
from weft.contrib.eager.functions import (
    implicit_value_and_gradients as implicit_value_and_gradients,
)
from weft.contrib.eager.functions import make_vjp as make_vjp
from weft.contrib.eager.functions import run as run
from weft.contrib.eager.functions import (
    value_and_gradients_function as value_and_gradients_function,
)
from weft.contrib.eager.modes import ASYNC as ASYNC
from weft.contrib.eager.modes import DEVICE_PLACEMENT_EXPLICIT as DEVICE_PLACEMENT_EXPLICIT
from weft.contrib.eager.modes import DEVICE_PLACEMENT_SILENT as DEVICE_PLACEMENT_SILENT
from weft.contrib.eager.modes import (
    DEVICE_PLACEMENT_SILENT_FOR_INT32 as DEVICE_PLACEMENT_SILENT_FOR_INT32,
)
from weft.contrib.eager.modes import DEVICE_PLACEMENT_WARN as DEVICE_PLACEMENT_WARN
from weft.contrib.eager.modes import SYNC as SYNC
from weft.contrib.eager.modes import async_clear_error as async_clear_error
from weft.contrib.eager.modes import async_wait as async_wait
from weft.contrib.eager.modes import execution_mode as execution_mode
from weft.contrib.eager.modes import list_devices as list_devices
from weft.contrib.eager.modes import num_gpus as num_gpus
from weft.contrib.eager.modes import (
    run_all_tests_in_graph_and_eager_modes as run_all_tests_in_graph_and_eager_modes,
)
from weft.contrib.eager.modes import (
    run_test_in_graph_and_eager_modes as run_test_in_graph_and_eager_modes,
)
from weft.contrib.eager.modes import set_execution_mode as set_execution_mode
from weft.contrib.eager.network import Network as Network
from weft.contrib.eager.variable_store import EagerVariableStore as EagerVariableStore
from weft.data.eager_iterator import EagerIterator as Iterator  # noqa: F401
from weft.functions.polymorphic import defun as defun
from weft.functions.polymorphic import function as function
from weft.graph.graph import init_scope as init_scope
from weft.graph.type_spec import TensorSpec as TensorSpec
from weft.ops.py_func import py_func as py_func
from weft.ops.py_func import py_function as py_function
from weft.ops.resource_variable import ResourceVariable as Variable  # noqa: F401
from weft.ops.template import make_template as make_template
from weft.platform.behavior import enable_eager_execution as enable_eager_execution
from weft.platform.behavior import executing_eagerly as executing_eagerly
from weft.train.checkpoint import Checkpoint as Checkpoint
from weft.train.checkpoint_objects import AutoTrackable as Checkpointable  # noqa: F401

in_eager_mode = executing_eagerly
