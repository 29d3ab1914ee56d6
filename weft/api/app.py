"""tf.app: public names, re-exported from where they are made."""

from weft.lib.platform.app import run as run
from weft.lib.platform import flags as flags
