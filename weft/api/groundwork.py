"""What programs rely on without naming it; imported with the first name of the package.

Tensors get their operators, collections of a MetaGraph their readers, conditionals, loops and
calls their gradients, and messages their docstrings.
"""

from weft.autodiff import gradients
from weft.graph import apply
from weft.lib.train.input import queue_runner
from weft.ops.control import cond, while_context
from weft.ops.functions import branch_functions, loop_functions
from weft.ops.math import operators
from weft.ops.state import ref_variable, resource_variable
from weft.protos import docs
