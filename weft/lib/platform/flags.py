"""tf.flags: absl's flags under TensorFlow's rules.

Everything that is not here comes from `absl.flags`, which is loaded at the first use of any of it.
Unlike absl's, `FLAGS` parses the command line by itself when a flag is read before `tf.app.run`,
and the define functions take the argument names of TensorFlow's early releases.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

_RENAMED = {"flag_name": "name", "default_value": "default", "docstring": "help"}


@cache
def _absl() -> Any:
    """absl.flags, told that flags belong to the module that calls us, not to this one."""
    import absl.flags
    import absl.logging  # defines flags of its own, which must be there before the program's

    absl.flags.disclaim_key_flags()
    return absl.flags


def _make_room(name: Any) -> None:
    """Programs older than absl have a `log_dir` or a `v` of their own: theirs is what counts."""
    values = _absl().FLAGS
    if name in values and values.find_module_defining_flag(name) == "absl.logging":
        delattr(values, name)


def _define(kind: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    renamed = {_RENAMED.get(key, key): value for key, value in kwargs.items()}
    if renamed.keys() != kwargs.keys():
        from weft.lib.platform import tf_logging

        tf_logging.warning(
            "The flag arguments flag_name, default_value and docstring are deprecated: use name,"
            " default and help."
        )
    _make_room(args[0] if args else renamed.get("name"))
    return getattr(_absl(), kind)(*args, **renamed)


def DEFINE_string(*args: Any, **kwargs: Any) -> Any:
    """Registers a flag whose value is text: `(name, default, help)`.

    Args:
        *args: the name, the default value (None allowed) and a sentence for `--help`.
        **kwargs: the same by name, and absl's further arguments.

    Returns:
        absl's holder of the flag.

    Raises:
        absl.flags.DuplicateFlagError: another module has defined the flag.

    Example:
        >>> holder = tf.flags.DEFINE_string("doc_model_name", "small", "Which model to train.")
        >>> tf.flags.FLAGS.doc_model_name
        'small'
    """
    return _define("DEFINE_string", args, kwargs)


def DEFINE_boolean(*args: Any, **kwargs: Any) -> Any:
    """Registers a flag that `--name` sets and `--noname` clears: `(name, default, help)`.

    Args:
        *args: the name, the default value and a sentence for `--help`.
        **kwargs: the same by name, and absl's further arguments.

    Returns:
        absl's holder of the flag.

    Raises:
        absl.flags.DuplicateFlagError: another module has defined the flag.

    Example:
        >>> holder = tf.flags.DEFINE_boolean("doc_shuffle", True, "Whether to shuffle.")
        >>> tf.flags.FLAGS.doc_shuffle
        True
    """
    return _define("DEFINE_boolean", args, kwargs)


DEFINE_bool = DEFINE_boolean


def DEFINE_float(*args: Any, **kwargs: Any) -> Any:
    """Registers a flag whose value is a number: `(name, default, help)`.

    Args:
        *args: the name, the default value and a sentence for `--help`.
        **kwargs: the same by name; also `lower_bound` and `upper_bound`.

    Returns:
        absl's holder of the flag.

    Raises:
        absl.flags.DuplicateFlagError: another module has defined the flag.

    Example:
        >>> holder = tf.flags.DEFINE_float("doc_learning_rate", 0.1, "How far a step goes.")
        >>> tf.flags.FLAGS.doc_learning_rate
        0.1
    """
    return _define("DEFINE_float", args, kwargs)


def DEFINE_integer(*args: Any, **kwargs: Any) -> Any:
    """Registers a flag whose value is an integer: `(name, default, help)`.

    Args:
        *args: the name, the default value and a sentence for `--help`.
        **kwargs: the same by name; also `lower_bound` and `upper_bound`.

    Returns:
        absl's holder of the flag.

    Raises:
        absl.flags.DuplicateFlagError: another module has defined the flag.

    Example:
        >>> holder = tf.flags.DEFINE_integer("doc_batch_size", 64, "How many examples a step sees.")
        >>> tf.flags.FLAGS.doc_batch_size
        64
    """
    return _define("DEFINE_integer", args, kwargs)


# Takes the name and the value of a flag that is set and was never defined, which is an error
# otherwise: programs of the releases before 1.5 did that.
define_unknown: Callable[[str, Any], None] | None = None

# What an attribute that starts with "_" was in those releases, by its name; None: nothing.
old_attribute: Callable[[str], Any] | None = None


class _FlagValues:
    """The program's flags as attributes, absl's FLAGS: parsed from `sys.argv` when first read.

    Example:
        >>> holder = tf.flags.DEFINE_integer("doc_epochs", 3, "How often to see the data.")
        >>> tf.flags.FLAGS.doc_epochs + 1
        4
    """

    def __getattr__(self, name: str) -> Any:
        values = _absl().FLAGS
        found = getattr(type(values), name, None)
        if found is None and name not in vars(values) and not values.is_parsed():
            # Flags that are not defined may be for other code, such as a test runner.
            values(sys.argv, known_only=True)
        if found is None and old_attribute and name.startswith("_") and not hasattr(values, name):
            found = old_attribute(name)
            if found is not None:
                return found
        return getattr(values, name)

    def __setattr__(self, name: str, value: Any) -> None:
        values = _absl().FLAGS
        if define_unknown and name not in values and not name.startswith("_"):
            define_unknown(name, value)
        else:
            setattr(values, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(_absl().FLAGS, name)

    def __getitem__(self, name: str) -> Any:
        return _absl().FLAGS[name]

    def __setitem__(self, name: str, flag: Any) -> None:
        _absl().FLAGS[name] = flag

    def __contains__(self, name: object) -> bool:
        return name in _absl().FLAGS

    def __iter__(self) -> Iterator[str]:
        return iter(_absl().FLAGS)

    def __len__(self) -> int:
        return len(_absl().FLAGS)

    def __dir__(self) -> list[str]:
        return dir(_absl().FLAGS)

    def __str__(self) -> str:
        return str(_absl().FLAGS)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _absl().FLAGS(*args, **kwargs)


FLAGS = _FlagValues()


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and hasattr(_absl(), name):
        return getattr(_absl(), name)
    raise AttributeError(f"module 'tf.flags' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*_absl().__all__, "DEFINE_bool"})
