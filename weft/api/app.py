"""tf.app: public names, re-exported from where they are made."""

from weft.platform.app import run as run
from weft.platform import flags as flags
