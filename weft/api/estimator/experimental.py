"""tf.estimator.experimental: public names, re-exported from where they are made."""

from weft.lib.estimator.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from weft.lib.estimator.canned.kmeans import KMeans as KMeans
from weft.lib.estimator.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from weft.lib.estimator.canned.sdca import LinearSDCA as LinearSDCA
from weft.lib.estimator.early_stopping import (
    make_early_stopping_hook as make_early_stopping_hook,
    stop_if_higher_hook as stop_if_higher_hook,
    stop_if_lower_hook as stop_if_lower_hook,
    stop_if_no_decrease_hook as stop_if_no_decrease_hook,
    stop_if_no_increase_hook as stop_if_no_increase_hook,
)
from weft.lib.estimator.functions import call_logit_fn as call_logit_fn
from weft.lib.estimator.hooks import (
    InMemoryEvaluatorHook as InMemoryEvaluatorHook,
    make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook,
)
from weft.lib.estimator.receivers import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)
