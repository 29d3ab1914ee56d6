"""tf.contrib.opt: more optimizers."""

from weft.lib.contrib.opt.adams import AdaMaxOptimizer as AdaMaxOptimizer
from weft.lib.contrib.opt.adams import LazyAdamOptimizer as LazyAdamOptimizer
from weft.lib.contrib.opt.adams import NadamOptimizer as NadamOptimizer
from weft.lib.contrib.opt.averaging_workers import AGNCustomGetter as AGNCustomGetter
from weft.lib.contrib.opt.averaging_workers import AGNOptimizer as AGNOptimizer
from weft.lib.contrib.opt.averaging_workers import (
    ElasticAverageCustomGetter as ElasticAverageCustomGetter,
)
from weft.lib.contrib.opt.averaging_workers import (
    ElasticAverageOptimizer as ElasticAverageOptimizer,
)
from weft.lib.contrib.opt.averaging_workers import (
    ModelAverageCustomGetter as ModelAverageCustomGetter,
)
from weft.lib.contrib.opt.averaging_workers import ModelAverageOptimizer as ModelAverageOptimizer
from weft.lib.contrib.opt.clipping import MultitaskOptimizerWrapper as MultitaskOptimizerWrapper
from weft.lib.contrib.opt.clipping import VariableClippingOptimizer as VariableClippingOptimizer
from weft.lib.contrib.opt.clipping import (
    clip_gradients_by_global_norm as clip_gradients_by_global_norm,
)
from weft.lib.contrib.opt.external import ExternalOptimizerInterface as ExternalOptimizerInterface
from weft.lib.contrib.opt.external import ScipyOptimizerInterface as ScipyOptimizerInterface
from weft.lib.contrib.opt.ggt import GGTOptimizer as GGTOptimizer
from weft.lib.contrib.opt.moving_average_optimizer import (
    MovingAverageOptimizer as MovingAverageOptimizer,
)
from weft.lib.contrib.opt.rates import LARSOptimizer as LARSOptimizer
from weft.lib.contrib.opt.rates import RegAdagradOptimizer as RegAdagradOptimizer
from weft.lib.contrib.opt.shampoo import ShampooOptimizer as ShampooOptimizer
from weft.lib.contrib.opt.sign import AddSignOptimizer as AddSignOptimizer
from weft.lib.contrib.opt.sign import PowerSignOptimizer as PowerSignOptimizer
from weft.lib.contrib.opt.sign import get_cosine_decay_fn as get_cosine_decay_fn
from weft.lib.contrib.opt.sign import get_linear_decay_fn as get_linear_decay_fn
from weft.lib.contrib.opt.sign import get_restart_decay_fn as get_restart_decay_fn
from weft.lib.contrib.opt.stale import DropStaleGradientOptimizer as DropStaleGradientOptimizer
from weft.lib.contrib.opt.step_adams import AdamGSOptimizer as AdamGSOptimizer
from weft.lib.contrib.opt.step_adams import LazyAdamGSOptimizer as LazyAdamGSOptimizer
from weft.lib.contrib.opt.weight_decay import AdamWOptimizer as AdamWOptimizer
from weft.lib.contrib.opt.weight_decay import (
    DecoupledWeightDecayExtension as DecoupledWeightDecayExtension,
)
from weft.lib.contrib.opt.weight_decay import MomentumWOptimizer as MomentumWOptimizer
from weft.lib.contrib.opt.weight_decay import (
    extend_with_decoupled_weight_decay as extend_with_decoupled_weight_decay,
)
