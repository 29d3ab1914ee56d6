# Written by `make stubs` from weft/api/estimator/experimental.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.estimator.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from weft.lib.estimator.canned.kmeans import KMeans as KMeans
from weft.lib.estimator.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from weft.lib.estimator.canned.sdca import LinearSDCA as LinearSDCA
from weft.lib.estimator.early_stopping import make_early_stopping_hook as make_early_stopping_hook
from weft.lib.estimator.early_stopping import stop_if_higher_hook as stop_if_higher_hook
from weft.lib.estimator.early_stopping import stop_if_no_increase_hook as stop_if_no_increase_hook
from weft.lib.estimator.functions import call_logit_fn as call_logit_fn
from weft.lib.estimator.hooks import InMemoryEvaluatorHook as InMemoryEvaluatorHook
from weft.lib.estimator.hooks import make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook
from weft.lib.estimator.receivers import build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn
def stop_if_lower_hook(estimator: _Any, metric_name: _builtins.str, threshold: _builtins.float, eval_dir: _builtins.str | None = None, min_steps: _builtins.int = 0, run_every_secs: _builtins.float | None = 60, run_every_steps: _builtins.int | None = None) -> _Any: ...
def stop_if_no_decrease_hook(estimator: _Any, metric_name: _builtins.str, max_steps_without_decrease: _Any, eval_dir: _builtins.str | None = None, min_steps: _builtins.int = 0, run_every_secs: _builtins.float | None = 60, run_every_steps: _builtins.int | None = None) -> _Any: ...
