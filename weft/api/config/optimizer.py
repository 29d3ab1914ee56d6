"""tf.config.optimizer: public names, re-exported from where they are made."""

from weft.client.process_config import (
    get_experimental_options as get_experimental_options,
    get_jit as get_jit,
    set_experimental_options as set_experimental_options,
    set_jit as set_jit,
)
