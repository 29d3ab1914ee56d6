"""tf.contrib.learn.utils: inputs and strategies of exports."""

from weft.lib.contrib.learn.utils import input_fn_utils as input_fn_utils
from weft.lib.contrib.learn.utils import saved_model_export_utils as saved_model_export_utils
from weft.lib.contrib.learn.utils.input_fn_utils import InputFnOps as InputFnOps
from weft.lib.contrib.learn.utils.input_fn_utils import (
    build_default_serving_input_fn as build_default_serving_input_fn,
)
from weft.lib.contrib.learn.utils.input_fn_utils import (
    build_parsing_serving_input_fn as build_parsing_serving_input_fn,
)
