"""tf.contrib.gan: two networks that train each other, one to make data, one to tell it from real.

TensorFlow 1.15 no longer has it; programs for earlier versions do.
"""

from weft.lib.contrib.gan import estimator as estimator
from weft.lib.contrib.gan import eval as eval
from weft.lib.contrib.gan import features as features
from weft.lib.contrib.gan import losses as losses
from weft.lib.contrib.gan.models import acgan_model as acgan_model
from weft.lib.contrib.gan.models import cyclegan_model as cyclegan_model
from weft.lib.contrib.gan.models import gan_model as gan_model
from weft.lib.contrib.gan.models import infogan_model as infogan_model
from weft.lib.contrib.gan.training import RunTrainOpsHook as RunTrainOpsHook
from weft.lib.contrib.gan.training import cyclegan_loss as cyclegan_loss
from weft.lib.contrib.gan.training import gan_loss as gan_loss
from weft.lib.contrib.gan.training import gan_train as gan_train
from weft.lib.contrib.gan.training import gan_train_ops as gan_train_ops
from weft.lib.contrib.gan.training import get_joint_train_hooks as get_joint_train_hooks
from weft.lib.contrib.gan.training import get_sequential_train_hooks as get_sequential_train_hooks
from weft.lib.contrib.gan.training import get_sequential_train_steps as get_sequential_train_steps
from weft.lib.contrib.gan.tuples import ACGANModel as ACGANModel
from weft.lib.contrib.gan.tuples import CycleGANLoss as CycleGANLoss
from weft.lib.contrib.gan.tuples import CycleGANModel as CycleGANModel
from weft.lib.contrib.gan.tuples import GANLoss as GANLoss
from weft.lib.contrib.gan.tuples import GANModel as GANModel
from weft.lib.contrib.gan.tuples import GANTrainOps as GANTrainOps
from weft.lib.contrib.gan.tuples import GANTrainSteps as GANTrainSteps
from weft.lib.contrib.gan.tuples import InfoGANModel as InfoGANModel
from weft.lib.contrib.gan.tuples import StarGANModel as StarGANModel
