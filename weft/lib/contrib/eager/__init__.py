"""tf.contrib.eager (`tfe`): eager execution and what programs write it with."""

from __future__ import annotations

from weft.autodiff.custom_gradient import custom_gradient as custom_gradient
from weft.autodiff.tape import GradientTape as GradientTape
from weft.graph.graph import init_scope as init_scope
from weft.graph.type_spec import TensorSpec as TensorSpec
from weft.lib.contrib.eager import metrics as metrics
from weft.lib.contrib.eager.checkpoints import Saver as Saver
from weft.lib.contrib.eager.checkpoints import get_optimizer_variables as get_optimizer_variables
from weft.lib.contrib.eager.checkpoints import (
    restore_variables_on_create as restore_variables_on_create,
)
from weft.lib.contrib.eager.functions import gradients_function as gradients_function
from weft.lib.contrib.eager.functions import implicit_gradients as implicit_gradients
from weft.lib.contrib.eager.functions import (
    implicit_value_and_gradients as implicit_value_and_gradients,
)
from weft.lib.contrib.eager.functions import make_vjp as make_vjp
from weft.lib.contrib.eager.functions import run as run
from weft.lib.contrib.eager.functions import (
    value_and_gradients_function as value_and_gradients_function,
)
from weft.lib.contrib.eager.modes import ASYNC as ASYNC
from weft.lib.contrib.eager.modes import DEVICE_PLACEMENT_EXPLICIT as DEVICE_PLACEMENT_EXPLICIT
from weft.lib.contrib.eager.modes import DEVICE_PLACEMENT_SILENT as DEVICE_PLACEMENT_SILENT
from weft.lib.contrib.eager.modes import (
    DEVICE_PLACEMENT_SILENT_FOR_INT32 as DEVICE_PLACEMENT_SILENT_FOR_INT32,
)
from weft.lib.contrib.eager.modes import DEVICE_PLACEMENT_WARN as DEVICE_PLACEMENT_WARN
from weft.lib.contrib.eager.modes import SYNC as SYNC
from weft.lib.contrib.eager.modes import async_clear_error as async_clear_error
from weft.lib.contrib.eager.modes import async_wait as async_wait
from weft.lib.contrib.eager.modes import execution_mode as execution_mode
from weft.lib.contrib.eager.modes import list_devices as list_devices
from weft.lib.contrib.eager.modes import num_gpus as num_gpus
from weft.lib.contrib.eager.modes import (
    run_all_tests_in_graph_and_eager_modes as run_all_tests_in_graph_and_eager_modes,
)
from weft.lib.contrib.eager.modes import (
    run_test_in_graph_and_eager_modes as run_test_in_graph_and_eager_modes,
)
from weft.lib.contrib.eager.modes import set_execution_mode as set_execution_mode
from weft.lib.contrib.eager.network import Network as Network
from weft.lib.data.eager_iterator import EagerIterator as Iterator  # noqa: F401
from weft.lib.functions.polymorphic import defun as defun
from weft.lib.functions.polymorphic import function as function
from weft.lib.platform.behavior import enable_eager_execution as enable_eager_execution
from weft.lib.platform.behavior import executing_eagerly as executing_eagerly
from weft.lib.train.checkpoint.checkpoint import Checkpoint as Checkpoint
from weft.lib.train.checkpoint.objects import AutoTrackable as Checkpointable  # noqa: F401
from weft.ops.functions.py_func import py_function as py_func  # noqa: F401
from weft.ops.functions.py_func import py_function as py_function
from weft.ops.state.eager_store import EagerVariableStore as EagerVariableStore
from weft.ops.state.resource_variable import ResourceVariable as Variable  # noqa: F401
from weft.ops.state.template import make_template as make_template

in_eager_mode = executing_eagerly
