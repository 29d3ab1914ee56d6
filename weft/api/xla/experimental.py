"""tf.xla.experimental: public names, re-exported from where they are made."""

from weft.lib.contrib.compiler.jit import experimental_jit_scope as jit_scope
from weft.lib.contrib.compiler.xla import compile as compile

__all__ = ["compile", "jit_scope"]
