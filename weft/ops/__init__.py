"""The operations: importing this package registers every one of them.

A folder is a family of operations, and every module in it is imported: a new one needs no list.
Which family may import which is in `tests/test_layers.py`.
"""

import importlib
import os

_HERE = os.path.dirname(__file__)
for _family in sorted(os.listdir(_HERE)):
    if _family.startswith("_") or "." in _family:
        continue
    for _file in sorted(os.listdir(os.path.join(_HERE, _family))):
        if _file.endswith(".py") and _file != "__init__.py":
            importlib.import_module(f"{__name__}.{_family}.{_file[:-3]}")
