"""What can be in a graph: importing this package registers every operation.

`FAMILIES` is the order of the folders: each may import those before it (`tests/test_layers.py`).
"""

import importlib
import pkgutil

FAMILIES = (
    "kit array math lists control linalg random state functions nn scores queues strings files"
    " sparse parsing ragged lookup image quantized trees devices dataset"
).split()

for _family in FAMILIES:
    _package = importlib.import_module(f"{__name__}.{_family}")
    for _module in pkgutil.iter_modules(_package.__path__, f"{_package.__name__}."):
        importlib.import_module(_module.name)
