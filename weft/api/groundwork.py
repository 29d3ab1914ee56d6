"""What programs rely on without naming it; imported with the first name of the package.

Tensors and sparse tensors get their operators, collections of a MetaGraph their readers,
conditionals, loops and calls their gradients, messages their docstrings. Objects that are saved
without a session are saved in Keras's.
"""

from typing import Any

from weft.autodiff import gradients
from weft.graph import apply
from weft.lib.train.checkpoint import default_session
from weft.lib.train.input import queue_runner
from weft.ops.control import cond, while_context
from weft.ops.functions import branch_functions, loop_functions
from weft.ops.math import operators
from weft.ops.sparse import math_nodes
from weft.ops.state import ref_variable, resource_variable
from weft.protos import docs


def _keras_session() -> Any:
    from weft.lib.keras.backend.session import get_session

    return get_session()


default_session.fallback.append(_keras_session)
