"""tf.random.experimental: public names, re-exported from where they are made."""

from weft.lib.train.random_generator import (
    create_rng_state as create_rng_state,
    Generator as Generator,
    get_global_generator as get_global_generator,
    set_global_generator as set_global_generator,
)
