"""tf.contrib.image: images rotated, bent, recolored, and cut into regions."""

from weft.lib.contrib.image.colors import adjust_hsv_in_yiq as adjust_hsv_in_yiq
from weft.lib.contrib.image.colors import adjust_yiq_hsv as adjust_yiq_hsv
from weft.lib.contrib.image.colors import connected_components as connected_components
from weft.lib.contrib.image.colors import random_hsv_in_yiq as random_hsv_in_yiq
from weft.lib.contrib.image.colors import random_yiq_hsv as random_yiq_hsv
from weft.lib.contrib.image.transforms import (
    angles_to_projective_transforms as angles_to_projective_transforms,
)
from weft.lib.contrib.image.transforms import bipartite_match as bipartite_match
from weft.lib.contrib.image.transforms import compose_transforms as compose_transforms
from weft.lib.contrib.image.transforms import rotate as rotate
from weft.lib.contrib.image.transforms import transform as transform
from weft.lib.contrib.image.transforms import translate as translate
from weft.lib.contrib.image.transforms import (
    translations_to_projective_transforms as translations_to_projective_transforms,
)
from weft.lib.contrib.image.warps import dense_image_warp as dense_image_warp
from weft.lib.contrib.image.warps import interpolate_spline as interpolate_spline
from weft.lib.contrib.image.warps import sparse_image_warp as sparse_image_warp
from weft.ops.image.transform import flat_transforms_to_matrices as flat_transforms_to_matrices
from weft.ops.image.transform import matrices_to_flat_transforms as matrices_to_flat_transforms
