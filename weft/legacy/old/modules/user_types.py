"""`UserDict`, `UserList` and `UserString`: classes to inherit from."""

from collections import UserDict, UserList, UserString
from collections.abc import MutableMapping as DictMixin

IterableUserDict = UserDict

__all__ = ["DictMixin", "IterableUserDict", "UserDict", "UserList", "UserString"]
