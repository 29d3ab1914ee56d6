"""tf.keras.applications: public names, re-exported from where they are made."""

from weft.lib.keras.applications.densenet import (
    DenseNet121 as DenseNet121,
    DenseNet169 as DenseNet169,
    DenseNet201 as DenseNet201,
)
from weft.lib.keras.applications.inception_resnet_v2 import InceptionResNetV2 as InceptionResNetV2
from weft.lib.keras.applications.inception_v3 import InceptionV3 as InceptionV3
from weft.lib.keras.applications.mobilenet import MobileNet as MobileNet
from weft.lib.keras.applications.mobilenet_v2 import MobileNetV2 as MobileNetV2
from weft.lib.keras.applications.nasnet import (
    NASNetLarge as NASNetLarge,
    NASNetMobile as NASNetMobile,
)
from weft.lib.keras.applications.resnet import (
    ResNet101 as ResNet101,
    ResNet152 as ResNet152,
    ResNet50 as ResNet50,
)
from weft.lib.keras.applications.resnet_v2 import (
    ResNet101V2 as ResNet101V2,
    ResNet152V2 as ResNet152V2,
    ResNet50V2 as ResNet50V2,
)
from weft.lib.keras.applications.vgg16 import VGG16 as VGG16
from weft.lib.keras.applications.vgg19 import VGG19 as VGG19
from weft.lib.keras.applications.xception import Xception as Xception
from weft.api.keras.applications import densenet as densenet
from weft.api.keras.applications import imagenet_utils as imagenet_utils
from weft.api.keras.applications import inception_resnet_v2 as inception_resnet_v2
from weft.api.keras.applications import inception_v3 as inception_v3
from weft.api.keras.applications import mobilenet as mobilenet
from weft.api.keras.applications import mobilenet_v2 as mobilenet_v2
from weft.api.keras.applications import nasnet as nasnet
from weft.api.keras.applications import resnet as resnet
from weft.api.keras.applications import resnet50 as resnet50
from weft.api.keras.applications import resnet_v2 as resnet_v2
from weft.api.keras.applications import vgg16 as vgg16
from weft.api.keras.applications import vgg19 as vgg19
from weft.api.keras.applications import xception as xception
