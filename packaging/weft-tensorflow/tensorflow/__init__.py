"""weft by TensorFlow's name: every module at and below this one is found by weft."""

import importlib
import sys

from weft.legacy.tensorflow_import import install

# The import in progress returns what stands in `sys.modules` at its end.
del sys.modules["tensorflow"]
install()
importlib.import_module("tensorflow")
