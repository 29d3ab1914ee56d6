# Written by `make stubs` from weft/api/keras/datasets/__init__.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.api.keras.datasets import boston_housing as boston_housing
from weft.api.keras.datasets import cifar10 as cifar10
from weft.api.keras.datasets import cifar100 as cifar100
from weft.api.keras.datasets import fashion_mnist as fashion_mnist
from weft.api.keras.datasets import imdb as imdb
from weft.api.keras.datasets import mnist as mnist
from weft.api.keras.datasets import reuters as reuters
