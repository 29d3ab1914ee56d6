"""`new`: functions, methods, classes and modules made by calling their types."""

from __future__ import annotations

from types import CodeType as code
from types import FunctionType as function
from types import MethodType
from types import ModuleType as module
from typing import Any

classobj = type


def instancemethod(function: Any, instance: Any, kind: Any = None) -> Any:
    """A function as the method of an object, or of a class."""
    return function if instance is None else MethodType(function, instance)


__all__ = ["classobj", "code", "function", "instancemethod", "module"]
