"""tf.image: public names, re-exported from where they are made."""

from weft.ops.blocks import (
    extract_image_patches as extract_image_patches,
)
from weft.ops.image_crop_resize import (
    crop_and_resize as crop_and_resize,
)
from weft.ops.image_glimpse import (
    extract_glimpse as extract_glimpse,
)
from weft.ops.image_resize import (
    resize_area as resize_area,
)
from weft.ops.image_resize import (
    resize_bicubic as resize_bicubic,
)
from weft.ops.image_resize import (
    resize_bilinear as resize_bilinear,
)
from weft.ops.image_resize import (
    resize_nearest_neighbor as resize_nearest_neighbor,
)
from weft.ops.random import (
    random_crop as random_crop,
)
