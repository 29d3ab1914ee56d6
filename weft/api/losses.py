"""tf.losses: public names, re-exported from where they are made."""

from weft.ops.losses import (
    Reduction as Reduction,
)
from weft.ops.losses import (
    absolute_difference as absolute_difference,
)
from weft.ops.losses import (
    add_loss as add_loss,
)
from weft.ops.losses import (
    compute_weighted_loss as compute_weighted_loss,
)
from weft.ops.losses import (
    cosine_distance as cosine_distance,
)
from weft.ops.losses import (
    get_losses as get_losses,
)
from weft.ops.losses import (
    get_regularization_loss as get_regularization_loss,
)
from weft.ops.losses import (
    get_regularization_losses as get_regularization_losses,
)
from weft.ops.losses import (
    get_total_loss as get_total_loss,
)
from weft.ops.losses import (
    hinge_loss as hinge_loss,
)
from weft.ops.losses import (
    huber_loss as huber_loss,
)
from weft.ops.losses import (
    log_loss as log_loss,
)
from weft.ops.losses import (
    mean_pairwise_squared_error as mean_pairwise_squared_error,
)
from weft.ops.losses import (
    mean_squared_error as mean_squared_error,
)
from weft.ops.losses import (
    sigmoid_cross_entropy as sigmoid_cross_entropy,
)
from weft.ops.losses import (
    softmax_cross_entropy as softmax_cross_entropy,
)
from weft.ops.losses import (
    sparse_softmax_cross_entropy as sparse_softmax_cross_entropy,
)
