"""Whether weft has a name of TensorFlow's, and which one may have been meant."""

from __future__ import annotations

import difflib
import functools
import importlib
import re
from types import ModuleType
from typing import Any

from weft.legacy import tensorflow_import
from weft.legacy.old import tensorflow_rows

ROOT = tensorflow_import.ROOT
# Here TensorFlow's modules are looked up, without `tensorflow` being anything in this process.
_HERE = "weft_checked_tensorflow"

# Names of the releases before 1.0 -> names that 1.15 has, with the same arguments.
BEFORE_1_0 = tensorflow_rows.RENAMED
_PLACES_TO_SEARCH = (
    "nn math train layers image losses metrics summary linalg io strings sparse random test"
    " contrib.layers contrib.rnn contrib.framework contrib.slim contrib.seq2seq contrib.losses"
    " contrib.legacy_seq2seq contrib.training keras keras.layers"
).split()


def is_tensorflow(path: str) -> bool:
    """Whether a dotted name is TensorFlow or below it."""
    return path == ROOT or path.startswith(f"{ROOT}.")


@functools.cache
def module(path: str) -> ModuleType | None:
    """TensorFlow's module `path` as weft has it; None where it has none."""
    tensorflow_import.install(_HERE)
    try:
        return importlib.import_module(_HERE + path.removeprefix(ROOT))
    except ImportError:
        return None


@functools.cache
def missing(path: str) -> str | None:
    """The first part of a dotted name that weft lacks; None when it has all that can be known.

    Attributes of objects (`tf.flags.FLAGS.batch_size`) are known only when a program runs.
    """
    found: Any = module(ROOT)
    seen = ROOT
    for part in path.split(".")[1:]:
        if not isinstance(found, ModuleType | type):
            return None
        seen = f"{seen}.{part}"
        try:
            found = getattr(found, part)
        except (AttributeError, ImportError):
            found = module(seen) if isinstance(found, ModuleType) else None
            if found is None:
                return seen
    return None


def is_before_1_0(path: str) -> bool:
    """Whether a module is one that only the releases before 1.0 had."""
    return tensorflow_rows.has_module(path) and module(path) is None


def written_before_1_0(path: str) -> str | None:
    """What stands in for a name that 1.15 has under no other name."""
    name = path.removeprefix(f"{ROOT}.")
    return tensorflow_rows.WRITTEN.get(name) or tensorflow_rows.INSIDE.get(name)


def is_called_as_before_1_0(path: str, after: str) -> bool:
    """Whether the arguments of a call, as it is written, are those of the releases before 1.0."""
    name = path.removeprefix(f"{ROOT}.")
    if name not in tensorflow_rows.REARRANGED:
        return False
    first = re.match(r"\s*\(\s*([^,()=]*)(=(?!=))?", after)
    if first is None:
        return False
    if "cross_entropy" in name or name.endswith("_loss"):
        return bool(first[1].strip()) and not first[2]
    keyword = first[1].strip() if first[2] else ""
    return keyword in ("concat_dim", "split_dim") or bool(re.fullmatch(r"-?\d+\s*", first[1]))


@functools.cache
def suggestion(path: str) -> str | None:
    """A name that weft has and that may have been meant by one it lacks."""
    parent, _, name = path.rpartition(".")
    public = path.removeprefix(f"{ROOT}.").removeprefix("compat.v1.")
    if public in BEFORE_1_0:
        return f"{ROOT}.{BEFORE_1_0[public]}"
    beside = [each for each in dir(module(parent)) if not each.startswith("_")]
    close = difflib.get_close_matches(name, beside, n=1, cutoff=0.8)
    if close:
        return f"{parent}.{close[0]}"
    return _elsewhere(name)


def _elsewhere(name: str) -> str | None:
    for place in (ROOT, *(f"{ROOT}.{each}" for each in _PLACES_TO_SEARCH)):
        if not name.startswith("_") and name in dir(module(place)):
            return f"{place}.{name}"
    return None
