"""`md5`: now in `hashlib`."""

from weft.legacy.old.python_behaviour import md5

new = md5

__all__ = ["md5", "new"]
