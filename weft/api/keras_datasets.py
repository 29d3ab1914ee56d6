"""tf.keras.datasets: public names, re-exported from where they are made."""

from weft.api import keras_datasets_boston_housing as boston_housing
from weft.api import keras_datasets_cifar10 as cifar10
from weft.api import keras_datasets_cifar100 as cifar100
from weft.api import keras_datasets_fashion_mnist as fashion_mnist
from weft.api import keras_datasets_imdb as imdb
from weft.api import keras_datasets_mnist as mnist
from weft.api import keras_datasets_reuters as reuters
