"""TensorFlow's examples, for programs that import them: `weft.examples.tutorials.mnist`.

What `tensorflow.examples` is under `weft run`, this is for programs whose imports say weft. There
are no modules in this folder: `weft/legacy/tensorflow_modules.py` says where in weft each name is.
"""

from typing import Any

from weft.legacy import tensorflow_import

tensorflow_import.install("weft.examples")
_view = tensorflow_import.View("weft.examples", ())


def __getattr__(name: str) -> Any:
    return getattr(_view, name)
