"""tf.train: public names, re-exported from where they are made."""

from tensorboard.compat.proto.cluster_pb2 import (
    ClusterDef as ClusterDef,
)
from tensorboard.compat.proto.cluster_pb2 import (
    JobDef as JobDef,
)
from tensorboard.compat.proto.saver_pb2 import (
    SaverDef as SaverDef,
)

from weft.graph.meta_graph import (
    export_meta_graph as export_meta_graph,
)
from weft.train.adadelta import (
    AdadeltaOptimizer as AdadeltaOptimizer,
)
from weft.train.adagrad import (
    AdagradOptimizer as AdagradOptimizer,
)
from weft.train.adagrad_da import (
    AdagradDAOptimizer as AdagradDAOptimizer,
)
from weft.train.adam import (
    AdamOptimizer as AdamOptimizer,
)
from weft.train.ftrl import (
    FtrlOptimizer as FtrlOptimizer,
)
from weft.train.gradient_descent import (
    GradientDescentOptimizer as GradientDescentOptimizer,
)
from weft.train.momentum import (
    MomentumOptimizer as MomentumOptimizer,
)
from weft.train.moving_averages import (
    ExponentialMovingAverage as ExponentialMovingAverage,
)
from weft.train.optimizer import (
    Optimizer as Optimizer,
)
from weft.train.proximal import (
    ProximalAdagradOptimizer as ProximalAdagradOptimizer,
)
from weft.train.proximal import (
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
)
from weft.train.rmsprop import (
    RMSPropOptimizer as RMSPropOptimizer,
)
from weft.train.training_util import (
    assert_global_step as assert_global_step,
)
from weft.train.training_util import (
    create_global_step as create_global_step,
)
from weft.train.training_util import (
    get_global_step as get_global_step,
)
from weft.train.training_util import (
    get_or_create_global_step as get_or_create_global_step,
)
from weft.train.training_util import (
    global_step as global_step,
)
