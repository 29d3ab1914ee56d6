"""tf.image: public names, re-exported from where they are made."""

from weft.ops.blocks import (
    extract_image_patches as extract_image_patches,
)
from weft.ops.random import (
    random_crop as random_crop,
)
