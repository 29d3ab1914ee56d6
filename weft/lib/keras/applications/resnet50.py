"""The names of tf.keras.applications.resnet50."""

from weft.lib.keras.applications.resnet import ResNet50 as ResNet50
from weft.lib.keras.applications.resnet import decode_predictions as decode_predictions
from weft.lib.keras.applications.resnet import preprocess_input as preprocess_input
