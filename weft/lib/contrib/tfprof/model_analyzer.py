"""tf.contrib.tfprof.model_analyzer."""

from __future__ import annotations

from typing import Any

from weft.lib.profiler.options import ProfileOptionBuilder
from weft.lib.profiler.profiler import Profiler as Profiler
from weft.lib.profiler.profiler import advise as advise
from weft.lib.profiler.profiler import profile as profile

TRAINABLE_VARS_PARAMS_STAT_OPTIONS = ProfileOptionBuilder.trainable_variables_parameter()
FLOAT_OPS_OPTIONS = ProfileOptionBuilder.float_operation()
PRINT_ALL_TIMING_MEMORY = ProfileOptionBuilder.time_and_memory()


def print_model_analysis(
    graph: Any,
    run_meta: Any = None,
    op_log: Any = None,
    tfprof_cmd: str = "scope",
    tfprof_options: dict[str, Any] = TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
) -> Any:
    """`tf.profiler.profile`, with the number of parameters as the usual question."""
    return profile(graph, run_meta, op_log, tfprof_cmd, tfprof_options)
