"""tf.saved_model.utils: public names, re-exported from where they are made."""

from weft.lib.saved_model.tensor_info import (
    build_tensor_info as build_tensor_info,
    get_tensor_from_tensor_info as get_tensor_from_tensor_info,
)
