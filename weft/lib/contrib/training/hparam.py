"""HParams: named hyperparameters with types, changed from text, JSON or dictionaries."""

from __future__ import annotations

import json
import numbers
import re
from collections.abc import Callable
from typing import Any, NoReturn

# name=value, name[1]=value or name=[value, value], up to a comma or the end.
_ASSIGNMENT = re.compile(
    r"(?P<name>[a-zA-Z][\w.]*)(?:\[\s*(?P<index>\d+)\s*\])?\s*=\s*"
    r"(?:\[(?P<vals>[^\]]*)\]|(?P<val>[^,\[]*))(?:$|,\s*)"
)


def _fail(name: str, kind: type, value: str, values: str) -> NoReturn:
    raise ValueError(
        f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{value}' in "
        f"{values}"
    )


def _parse_bool(value: str) -> bool:
    if value in ("true", "True"):
        return True
    if value in ("false", "False"):
        return False
    return bool(int(value))


def parse_values(
    values: str, type_map: dict[str, type], ignore_unknown: bool = False
) -> dict[str, Any]:
    """The assignments in `values`; those to list entries as {index: value}."""
    found: dict[str, Any] = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if match is None:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"]
        if name in type_map:
            _assign(found, match, type_map[name], values)
        elif not ignore_unknown:
            raise ValueError(f"Unknown hyperparameter type for {name}")
    return found


def _assign(found: dict[str, Any], match: re.Match[str], kind: type, values: str) -> None:
    name, index = match["name"], match["index"]
    parse: Callable[[str], Any] = _parse_bool if kind is bool else kind
    text = match["val"] if match["vals"] is None else match["vals"]
    try:
        if match["vals"] is None:
            value: Any = parse(text)
        else:
            value = [parse(entry) for entry in re.split("[ ,]", text) if entry]
    except ValueError:
        _fail(name, kind, text, values)
    if match["vals"] is not None and index is not None:
        raise ValueError("Assignment of a list to a list index.")
    if index is None:
        _put(found, name, value, name, values)
        return
    entries = found.setdefault(name, {})
    if not isinstance(entries, dict):
        _put(found, name, value, name, values)
    _put(entries, int(index), value, f"{name}[{index}]", values)


def _put(place: dict[Any, Any], key: Any, value: Any, shown: str, values: str) -> None:
    if key in place:
        raise ValueError(f"Multiple assignments to variable '{shown}' in {values}")
    place[key] = value


def _as_type(name: str, kind: type, value: Any) -> Any:
    """`value` as a `kind`, where nothing is lost by it."""
    if type(value) is kind or issubclass(kind, type(None)):
        return value
    text = (str, bytes)
    wrong = (
        (issubclass(kind, text) and not isinstance(value, text))
        or issubclass(kind, bool) != isinstance(value, bool)
        or (issubclass(kind, numbers.Integral) and not isinstance(value, numbers.Integral))
        or (issubclass(kind, numbers.Number) and not isinstance(value, numbers.Number))
    )
    if wrong:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    cast: Callable[[Any], Any] = kind
    return cast(value)


class HParams:
    """Hyperparameters as attributes; each keeps the type of its first value.

    Args:
        hparam_def: a message to take them from.
        model_structure: kept, not used.
        **kwargs: the names and their first values.

    Raises:
        ValueError: a name is reserved or comes twice, or a list is empty.

    Example:
        >>> hparams = tf.contrib.training.HParams(learning_rate=0.1, layers=[64, 32])
        >>> hparams.parse("learning_rate=0.5").learning_rate, hparams.layers
        (0.5, [64, 32])
    """

    def __init__(self, hparam_def: Any = None, model_structure: Any = None, **kwargs: Any) -> None:
        self._hparam_types: dict[str, tuple[type, bool]] = {}
        self._model_structure = model_structure
        if hparam_def:
            if kwargs:
                raise ValueError("hparam_def and initialization values are mutually exclusive")
            kwargs = dict(_from_message(hparam_def))
        for name, value in kwargs.items():
            self.add_hparam(name, value)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds a hyperparameter; a list must not be empty."""
        many = isinstance(value, list | tuple)
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        if many and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        kinds = [type(each) for each in (value if many else [value])]
        self._hparam_types[name] = kinds[0], many
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Gives a hyperparameter a new value of its type."""
        kind, many = self._hparam_types[name]
        listed = isinstance(value, list)
        if listed and not many:
            raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
        if many and not listed:
            raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
        values = [_as_type(name, kind, each) for each in (value if many else [value])]
        setattr(self, name, values if many else values[0])

    def del_hparam(self, name: str) -> None:
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values: str) -> HParams:
        """Overrides from text such as `layers=3,rates=[0.1,0.2]`."""
        types = {name: kind for name, (kind, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def parse_json(self, values_json: str) -> HParams:
        return self.override_from_dict(json.loads(values_json))

    def override_from_dict(self, values_dict: dict[str, Any]) -> HParams:
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map: dict[str, Any]) -> HParams:
        """The former name of `override_from_dict`."""
        return self.override_from_dict(values_map)

    def set_model_structure(self, model_structure: Any) -> None:
        self._model_structure = model_structure

    def get_model_structure(self) -> Any:
        return self._model_structure

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default`, which must be of its type."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            self._check_default(key, default)
        return getattr(self, key)

    def _check_default(self, key: str, default: Any) -> None:
        kind, many = self._hparam_types[key]
        shown = f"list<{kind}>" if many else str(kind)
        wrong = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
        if many != isinstance(default, list):
            raise ValueError(wrong)
        try:
            for value in default if many else [default]:
                _as_type(key, kind, value)
        except ValueError as error:
            raise ValueError(f"{wrong}. {error}") from None

    def __contains__(self, key: str) -> bool:
        return key in self._hparam_types

    def __str__(self) -> str:
        return ",".join(f"{key}={value}" for key, value in self.values().items())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"


def _from_message(hparam_def: Any) -> Any:
    """(name, value) of each hyperparameter of an HParamDef message."""
    for name, entry in hparam_def.hparam.items():
        kind = entry.WhichOneof("kind")
        value = getattr(entry, kind)
        many = kind.endswith("_list")
        values = [
            v.decode() if isinstance(v, bytes) else v for v in (value.value if many else [value])
        ]
        yield name, values if many else values[0]
