"""Looks whether the docstrings of the most used symbols say what they must (`make docs`).

docs/most_used.txt lists the symbols, most used first. Of each: a sentence; every parameter under
"Args:"; of a function, "Returns:" and "Raises:" unless there is nothing to say; and an example.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).parent
CONSTANTS = (str, int, float, type(None))
# Functions whose callers can do nothing wrong that is theirs alone to hear of.
RAISE_NOTHING = frozenset(
    """
    tf.add_to_collection tf.contrib.slim.dropout tf.contrib.slim.repeat tf.get_collection
    tf.get_collection_ref tf.gfile.Exists tf.gfile.IsDirectory tf.global_variables tf.identity
    tf.image.rgb_to_grayscale tf.logging.error tf.logging.fatal tf.logging.info
    tf.logging.set_verbosity tf.logging.warn tf.logging.warning tf.no_op tf.ones tf.ones_like
    tf.python.ops.array_ops.shape tf.random_shuffle tf.rank tf.set_random_seed tf.shape tf.size
    tf.stop_gradient tf.tables_initializer tf.train.get_checkpoint_state
    tf.train.latest_checkpoint tf.train.write_graph tf.trainable_variables
    tf.variables_initializer tf.zeros tf.zeros_like
""".split()
)


def most_used() -> list[str]:
    return (HERE / "most_used.txt").read_text().split()


def found(symbol: str) -> Any:
    """The object that a program calls `symbol`, such as `tf.nn.conv2d`."""
    import weft

    value: Any = weft
    for part in symbol.split(".")[1:]:
        value = getattr(value, part)
    return value


def missing(symbol: str) -> Iterator[str]:
    """The parts that the docstring of `symbol` lacks."""
    value = found(symbol)
    if isinstance(value, CONSTANTS):
        yield from _missing_of_constant(symbol)
        return
    doc = inspect.getdoc(value) or ""
    if len(doc.split("\n\n")[0].split()) < 3:
        yield "a sentence"
    if isinstance(value, ModuleType):
        return
    if ">>>" not in doc:
        yield "an example"
    if inspect.isroutine(value) or inspect.isclass(value):
        yield from (f"the argument {name!r}" for name in _unnamed(value, doc))
    if inspect.isroutine(value):
        yield from _missing_of_function(symbol, value, doc)


def _missing_of_constant(symbol: str) -> Iterator[str]:
    """A number or a string has no docstring: the class that it belongs to names it."""
    owner, _, name = symbol.rpartition(".")
    if inspect.isclass(holder := found(owner)) and name not in (holder.__doc__ or ""):
        yield f"a word in the docstring of {owner}"


def _unnamed(value: Any, doc: str) -> list[str]:
    """Parameters that no line below "Args:" begins with."""
    below = doc.partition("Args:\n")[2].partition("\n\n")[0]
    heads = re.findall(r"^    ([\w*, ]+):", below, re.MULTILINE)
    named = {name.strip(" *") for head in heads for name in head.split(",")}
    return [name for name in _parameters(value) if name not in named]


def _parameters(value: Any) -> list[str]:
    """The names of what a function or class takes; of a message, whose fields it takes, none."""
    try:
        return list(inspect.signature(value).parameters)
    except ValueError:
        return []


def _missing_of_function(symbol: str, value: Any, doc: str) -> Iterator[str]:
    signature = inspect.signature(value)
    if "Returns:\n" not in doc and signature.return_annotation not in ("None", None):
        yield "Returns"
    if "Raises:\n" not in doc and signature.parameters and symbol not in RAISE_NOTHING:
        yield "Raises"


def main() -> int:
    lacking = {symbol: list(missing(symbol)) for symbol in most_used()}
    lacking = {symbol: parts for symbol, parts in lacking.items() if parts}
    for symbol, parts in lacking.items():
        print(f"{symbol}: {', '.join(parts)}")
    print(f"{len(most_used()) - len(lacking)} of {len(most_used())} are complete")
    return 1 if lacking else 0


if __name__ == "__main__":
    sys.exit(main())
