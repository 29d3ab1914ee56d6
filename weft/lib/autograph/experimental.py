"""tf.autograph.experimental."""

from weft.lib.autograph.api import Feature as Feature
from weft.lib.autograph.api import do_not_convert as do_not_convert
from weft.lib.autograph.api import set_loop_options as set_loop_options
