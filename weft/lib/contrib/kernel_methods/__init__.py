"""tf.contrib.kernel_methods: linear models of features that a kernel's map makes of others."""

from weft.lib.contrib.kernel_methods.classifier import (
    KernelLinearClassifier as KernelLinearClassifier,
)
from weft.lib.contrib.kernel_methods.losses import (
    sparse_multiclass_hinge_loss as sparse_multiclass_hinge_loss,
)
from weft.lib.contrib.kernel_methods.mappers import (
    RandomFourierFeatureMapper as RandomFourierFeatureMapper,
)
