"""tf.autograph.experimental."""

from weft.autograph.api import Feature as Feature
from weft.autograph.api import do_not_convert as do_not_convert
from weft.autograph.api import set_loop_options as set_loop_options
