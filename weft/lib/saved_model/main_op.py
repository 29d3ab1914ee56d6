"""tf.saved_model.main_op: operations to run when a model is loaded."""

from __future__ import annotations

from typing import Any

from weft.graph.graph import control_dependencies
from weft.ops.control.control import group
from weft.ops.lookup.tables import tables_initializer
from weft.ops.state.variable_lists import global_variables_initializer, local_variables_initializer


def main_op() -> Any:
    """Initializes variables, local variables and tables."""
    return group(
        global_variables_initializer(), local_variables_initializer(), tables_initializer()
    )


def main_op_with_restore(restore_op_name: Any) -> Any:
    """As `main_op`, and after it the operation that restores the values."""
    with control_dependencies([main_op()]):
        return group(restore_op_name)
