"""The operations: importing this package registers every one of them.

A folder is a family of operations, and every module in it is imported: a new one needs no list.
Which family may import which is in `tests/test_layers.py`.
"""

import importlib
import pkgutil

for _family in pkgutil.iter_modules(__path__, f"{__name__}."):
    _package = importlib.import_module(_family.name)
    for _module in pkgutil.iter_modules(_package.__path__, f"{_family.name}."):
        importlib.import_module(_module.name)
