"""tf.keras.applications: well-known models of images, with weights from files."""

from weft.lib.keras.applications.densenet import DenseNet121 as DenseNet121
from weft.lib.keras.applications.densenet import DenseNet169 as DenseNet169
from weft.lib.keras.applications.densenet import DenseNet201 as DenseNet201
from weft.lib.keras.applications.inception_resnet_v2 import InceptionResNetV2 as InceptionResNetV2
from weft.lib.keras.applications.inception_v3 import InceptionV3 as InceptionV3
from weft.lib.keras.applications.mobilenet import MobileNet as MobileNet
from weft.lib.keras.applications.mobilenet_v2 import MobileNetV2 as MobileNetV2
from weft.lib.keras.applications.nasnet import NASNetLarge as NASNetLarge
from weft.lib.keras.applications.nasnet import NASNetMobile as NASNetMobile
from weft.lib.keras.applications.resnet import ResNet50 as ResNet50
from weft.lib.keras.applications.resnet import ResNet101 as ResNet101
from weft.lib.keras.applications.resnet import ResNet152 as ResNet152
from weft.lib.keras.applications.resnet_v2 import ResNet50V2 as ResNet50V2
from weft.lib.keras.applications.resnet_v2 import ResNet101V2 as ResNet101V2
from weft.lib.keras.applications.resnet_v2 import ResNet152V2 as ResNet152V2
from weft.lib.keras.applications.vgg16 import VGG16 as VGG16
from weft.lib.keras.applications.vgg19 import VGG19 as VGG19
from weft.lib.keras.applications.xception import Xception as Xception
