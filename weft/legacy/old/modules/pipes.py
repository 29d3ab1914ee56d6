"""`pipes`: quoting for shells."""

from shlex import quote

__all__ = ["quote"]
