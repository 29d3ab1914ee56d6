"""`sha`: now in `hashlib`."""

from weft.legacy.old.python_behaviour import sha1

sha = new = sha1

__all__ = ["new", "sha"]
