"""tf.contrib.compiler: what is to be compiled. Here everything is that can be."""

from weft.lib.contrib.compiler import jit as jit
from weft.lib.contrib.compiler import xla as xla
