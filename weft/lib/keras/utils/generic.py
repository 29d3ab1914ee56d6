"""Objects as configurations and back: by name, or by class name and constructor arguments."""

from __future__ import annotations

import base64
import binascii
import inspect
import marshal
import reprlib
import types
from collections.abc import Callable, Mapping
from typing import Any

from weft.core.hints import hinted
from weft.lib.keras.utils.safe_mode import check_code, remember_own

_custom_objects: dict[str, Any] = {}


class CustomObjectScope:
    """Within this scope the objects of the given dictionaries are known by their keys."""

    def __init__(self, *args: Any) -> None:
        self.custom_objects = args
        self.backup: dict[str, Any] = {}

    def __enter__(self) -> CustomObjectScope:
        self.backup = _custom_objects.copy()
        for objects in self.custom_objects:
            _custom_objects.update(objects)
        return self

    def __exit__(self, *args: Any) -> None:
        _custom_objects.clear()
        _custom_objects.update(self.backup)


def custom_object_scope(*args: Any) -> CustomObjectScope:
    """A scope that knows the objects of the given dictionaries by their keys."""
    return CustomObjectScope(*args)


def get_custom_objects() -> dict[str, Any]:
    """The objects known by name everywhere; may be changed."""
    return _custom_objects


def serialize_keras_class_and_config(cls_name: str, cls_config: Any) -> dict[str, Any]:
    return {"class_name": cls_name, "config": cls_config}


def serialize_keras_object(instance: Any) -> Any:
    """The form of `instance` from which `deserialize_keras_object` makes it again."""
    if hasattr(instance, "get_config"):
        return serialize_keras_class_and_config(type(instance).__name__, instance.get_config())
    name = getattr(instance, "__name__", None)
    if name is None and instance is not None:
        raise ValueError("Cannot serialize", instance)
    return name


def _known(name: str, module_objects: Any, custom_objects: Any) -> Any:
    for objects in (custom_objects, _custom_objects, module_objects):
        if objects and name in objects:
            return objects[name]
    return None


def _names(module_objects: Any, custom_objects: Any) -> set[str]:
    """The names by which objects are known; modules have others, too."""
    given = {*(custom_objects or ()), *_custom_objects}
    return given | {n for n, v in (module_objects or {}).items() if callable(v) and n[0] != "_"}


def class_and_config_for_serialized_keras_object(
    config: Any,
    module_objects: Any = None,
    custom_objects: Any = None,
    printable_module_name: str = "object",
) -> tuple[Any, Any]:
    """(class, constructor arguments) that the record `config` means."""
    if not (isinstance(config, dict) and {"class_name", "config"} <= config.keys()):
        raise ValueError("Improper config format: " + str(config))
    name = config["class_name"]
    found = _known(name, module_objects, custom_objects)
    if found is None:
        raise ValueError(f"Unknown {printable_module_name}: {name}")
    return found, config["config"]


def entry(config: Any, key: str) -> Any:
    """What a configuration says under `key`. ValueError if it says nothing."""
    if isinstance(config, Mapping) and key in config:
        return config[key]
    shown = reprlib.repr(config)
    raise ValueError(f"Improperly formatted model config: no {key!r} in {shown}")


def deserialize_keras_object(
    identifier: Any,
    module_objects: Any = None,
    custom_objects: Any = None,
    printable_module_name: str = "object",
) -> Any:
    """The object meant by a record {class_name, config}, or by a name.

    A class given by name is called without arguments; a function is returned as it is.
    """
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        cls, config = class_and_config_for_serialized_keras_object(
            identifier, module_objects, custom_objects, printable_module_name
        )
        return _from_config(cls, config, custom_objects or {})
    if isinstance(identifier, str):
        found = _known(identifier, module_objects, custom_objects)
        if found is None:
            error = ValueError(f"Unknown {printable_module_name}:{identifier}")
            raise hinted(error, identifier, _names(module_objects, custom_objects))
        return found() if inspect.isclass(found) else found
    raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier}")


def interpret(
    identifier: Any, kind: str, deserialize: Callable[[Any], Any], makers: Any = ()
) -> Any:
    """The object meant by a name, a record or itself. `makers` are functions that make one."""
    if isinstance(identifier, str) and identifier in makers:
        identifier = {"class_name": identifier, "config": {}}
    if isinstance(identifier, (str, dict)):
        return deserialize(identifier)
    if identifier is None or callable(identifier):
        return identifier
    if kind in ("loss function", "regularizer"):
        raise ValueError(f"Could not interpret {kind} identifier:", identifier)
    raise ValueError(f"Could not interpret {kind} identifier: {identifier}")


def _from_config(cls: Any, config: Any, custom_objects: dict[str, Any]) -> Any:
    make = getattr(cls, "from_config", None)
    if make is not None and has_arg(make, "custom_objects"):
        return make(config, custom_objects={**_custom_objects, **custom_objects})
    with CustomObjectScope(custom_objects):
        # A function is called with what its record holds.
        return cls(**config) if make is None else make(config)


def has_arg(fn: Callable[..., Any], name: str, accept_all: bool = False) -> bool:
    """Whether `fn` takes an argument called `name` (or, with `accept_all`, any argument)."""
    spec = inspect.getfullargspec(fn)
    if accept_all and spec.varkw is not None:
        return True
    return name in spec.args or name in spec.kwonlyargs


def func_dump(func: Any) -> tuple[str, Any, Any]:
    """(code as text, defaults, values it closes over) of a Python function."""
    compiled = marshal.dumps(func.__code__)
    remember_own(compiled)
    closure = tuple(cell.cell_contents for cell in func.__closure__ or ())
    return base64.encodebytes(compiled).decode("ascii"), func.__defaults__, closure or None


def func_load(
    code: Any, defaults: Any = None, closure: Any = None, globs: dict[str, Any] | None = None
) -> Callable[..., Any]:
    """The function that `func_dump` was given; ValueError for code of others in safe mode."""
    if isinstance(code, (tuple, list)):
        code, defaults, closure = code
        defaults = tuple(defaults) if isinstance(defaults, list) else defaults
    content = _as_bytes(code)
    check_code(content)
    compiled = marshal.loads(content)
    cells = None if closure is None else tuple(map(_as_cell, closure))
    known = globals() if globs is None else globs
    return types.FunctionType(compiled, known, compiled.co_name, defaults, cells)


def _as_bytes(code: str) -> bytes:
    try:
        return base64.decodebytes(code.encode("ascii"))
    except (UnicodeEncodeError, binascii.Error):
        return code.encode("raw_unicode_escape")


def _as_cell(value: Any) -> types.CellType:
    return value if isinstance(value, types.CellType) else types.CellType(value)


def to_list(x: Any) -> list[Any]:
    """`x` if it is a list, else a list of it."""
    return x if isinstance(x, list) else [x]
