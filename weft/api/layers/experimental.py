"""tf.layers.experimental: public names, re-exported from where they are made."""

from weft.lib.layers.naming import (
    keras_style_scope as keras_style_scope,
    set_keras_style as set_keras_style,
)
