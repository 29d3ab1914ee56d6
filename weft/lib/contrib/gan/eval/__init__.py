"""tf.contrib.gan.eval: how good generated data is, and pictures of it."""

from weft.lib.contrib.gan.eval import classifier_metrics as classifier_metrics
from weft.lib.contrib.gan.eval import eval_utils as eval_utils
from weft.lib.contrib.gan.eval import summaries as summaries
from weft.lib.contrib.gan.eval.classifier_metrics import *  # noqa: F403
from weft.lib.contrib.gan.eval.eval_utils import image_grid as image_grid
from weft.lib.contrib.gan.eval.eval_utils import image_reshaper as image_reshaper
from weft.lib.contrib.gan.eval.sliced_wasserstein import (
    sliced_wasserstein_distance as sliced_wasserstein_distance,
)
from weft.lib.contrib.gan.eval.summaries import *  # noqa: F403
