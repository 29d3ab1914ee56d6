"""TensorFlow's examples, for programs that import them: `weft.examples.tutorials.mnist`.

What `tensorflow.examples` is under `weft run`, this is for programs whose imports say weft. There
are no modules in this folder: `weft/cli/tensorflow_modules.py` says where in weft each name is.
"""

from typing import Any

from weft.cli import tensorflow_import

tensorflow_import.install(__name__)
_view = tensorflow_import.View(__name__, ())


def __getattr__(name: str) -> Any:
    return getattr(_view, name)
