"""TensorFlow's modules for programs whose imports say weft: all that `weft run` would find.

`weft upgrade` writes `weft.legacy.tensorflow.contrib.layers.python.layers` where weft has no module
of that name itself. There are no modules in this folder: `weft/legacy/tensorflow_modules.py` says
where in weft each name is.
"""

from typing import Any

from weft.legacy import tensorflow_import

tensorflow_import.install(tensorflow_import.UNDER_WEFT)
_view = tensorflow_import.View(tensorflow_import.UNDER_WEFT, ("tf",))


def __getattr__(name: str) -> Any:
    return getattr(_view, name)
