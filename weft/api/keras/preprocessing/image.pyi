# Written by `make stubs` from weft/api/keras/preprocessing/image.py and the functions that it exports.
from typing import Any as _Any
import builtins as _builtins
from weft.lib.keras.preprocessing.affine import apply_affine_transform as apply_affine_transform
from weft.lib.keras.preprocessing.affine import apply_brightness_shift as apply_brightness_shift
from weft.lib.keras.preprocessing.affine import apply_channel_shift as apply_channel_shift
from weft.lib.keras.preprocessing.affine import random_brightness as random_brightness
from weft.lib.keras.preprocessing.affine import random_channel_shift as random_channel_shift
from weft.lib.keras.preprocessing.affine import random_rotation as random_rotation
from weft.lib.keras.preprocessing.affine import random_shear as random_shear
from weft.lib.keras.preprocessing.affine import random_shift as random_shift
from weft.lib.keras.preprocessing.affine import random_zoom as random_zoom
from weft.lib.keras.preprocessing.file_iterators import DirectoryIterator as DirectoryIterator
from weft.lib.keras.preprocessing.image_generator import ImageDataGenerator as ImageDataGenerator
from weft.lib.keras.preprocessing.iterators import Iterator as Iterator
from weft.lib.keras.preprocessing.iterators import NumpyArrayIterator as NumpyArrayIterator
from weft.lib.keras.preprocessing.pictures import array_to_img as array_to_img
from weft.lib.keras.preprocessing.pictures import img_to_array as img_to_array
from weft.lib.keras.preprocessing.pictures import load_img as load_img
from weft.lib.keras.preprocessing.pictures import save_img as save_img
