"""tf.contrib.slim.nets: image classifiers under the names that published checkpoints have."""

from weft.lib.contrib.slim.nets import alexnet as alexnet
from weft.lib.contrib.slim.nets import inception as inception
from weft.lib.contrib.slim.nets import overfeat as overfeat
from weft.lib.contrib.slim.nets import resnet_utils as resnet_utils
from weft.lib.contrib.slim.nets import resnet_v1 as resnet_v1
from weft.lib.contrib.slim.nets import resnet_v2 as resnet_v2
from weft.lib.contrib.slim.nets import vgg as vgg
