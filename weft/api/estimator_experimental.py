"""tf.estimator.experimental: public names, re-exported from where they are made."""

from weft.estimator.canned.dnn import dnn_logit_fn_builder as dnn_logit_fn_builder
from weft.estimator.canned.kmeans import KMeans as KMeans
from weft.estimator.canned.linear import linear_logit_fn_builder as linear_logit_fn_builder
from weft.estimator.canned.sdca import LinearSDCA as LinearSDCA
from weft.estimator.early_stopping import (
    make_early_stopping_hook as make_early_stopping_hook,
    stop_if_higher_hook as stop_if_higher_hook,
    stop_if_lower_hook as stop_if_lower_hook,
    stop_if_no_decrease_hook as stop_if_no_decrease_hook,
    stop_if_no_increase_hook as stop_if_no_increase_hook,
)
from weft.estimator.functions import call_logit_fn as call_logit_fn
from weft.estimator.hooks import (
    InMemoryEvaluatorHook as InMemoryEvaluatorHook,
    make_stop_at_checkpoint_step_hook as make_stop_at_checkpoint_step_hook,
)
from weft.estimator.receivers import (
    build_raw_supervised_input_receiver_fn as build_raw_supervised_input_receiver_fn,
)
