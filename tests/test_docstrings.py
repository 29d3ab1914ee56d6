"""The docstrings of the API: the most used are complete, and every example in one is true."""

from __future__ import annotations

import doctest
import functools
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.protos.docs import DOCS as MESSAGES

ROOT = Path(__file__).parent.parent
SHARES = 4
# Functions that a module imports for itself, and a message of TensorBoard's.
HELPERS = {
    "tf.contrib.data.int64", "tf.contrib.tpu.check_positive_integer", "tf.profiler.OpLogProto",
    "tf.contrib.tfprof.OpLogProto", "tf.contrib.checkpoint.CheckpointableObjectGraph",
}  # fmt: skip
NUMBER = r"-?\d+\.\d*(?:e[-+]?\d+)?"


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


audit = _load(ROOT / "docs" / "audit.py")


def test_the_most_used_symbols_say_all_they_must() -> None:
    assert len(audit.most_used()) == 400
    lacking = {symbol: list(audit.missing(symbol)) for symbol in audit.most_used()}
    assert not {symbol: parts for symbol, parts in lacking.items() if parts}


@pytest.mark.parametrize(
    ("doc", "parts"),
    [
        (None, ["a sentence", "an example", "the argument 'x'", "Returns", "Raises"]),
        ("The square of a number.\n\nArgs:\n    x: one.", ["an example", "Returns", "Raises"]),
        ("Squares it all.\n\nArgs:\n    y, x: a.\n\nReturns:\n    b\n>>> 1", ["Raises"]),
    ],
)
def test_the_audit_sees_what_is_lost(
    doc: str | None, parts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def square(x: int) -> int:
        return x * x

    square.__doc__ = doc
    monkeypatch.setattr(tf.nn, "relu", square)
    assert list(audit.missing("tf.nn.relu")) == parts


def test_every_public_symbol_has_a_sentence() -> None:
    """More than two words, of its own: not those of a class that it derives from."""
    reference = _load(ROOT / "docs" / "site" / "reference.py")
    silent = {
        f"{path}.{name}"
        for path, module in reference.namespaces()
        for name, value in reference._members(module)
        if len(str(vars(value).get("__doc__", value.__doc__) or "").split("\n\n")[0].split()) < 3
    }
    assert silent <= HELPERS


# ---- examples ------------------------------------------------------------------------------------


class NearlyEqual(doctest.OutputChecker):
    """Numbers with a point may differ in their last digits."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        if super().check_output(want, got, optionflags):
            return True
        if re.sub(NUMBER, "#", want).split() != re.sub(NUMBER, "#", got).split():
            return False
        wanted, given = (np.array(re.findall(NUMBER, text), float) for text in (want, got))
        return np.allclose(wanted, given, rtol=1e-5, atol=1e-6)


@functools.cache
def _documented() -> list[tuple[str, str]]:
    """The same for all shares, though examples import more modules."""
    return list(_all_documented())


def _all_documented() -> Iterator[tuple[str, str]]:
    """(place, docstring) of everything in weft that has an example, each once."""
    for symbol in audit.most_used():
        audit.found(symbol)  # imports what it needs
    yield from ((message.__name__, doc) for message, doc in MESSAGES.items() if ">>> " in doc)
    seen: set[str] = set()
    modules = [name for name in sys.modules if name.partition(".")[0] == "weft"]
    for name in sorted(modules):
        for attribute, value in sorted(vars(sys.modules[name]).items()):
            for place, doc in _docs(f"{name}.{attribute}", value):
                if ">>> " in doc and doc not in seen:
                    seen.add(doc)
                    yield place, doc


def _docs(place: str, value: Any) -> Iterator[tuple[str, str]]:
    if not str(getattr(value, "__module__", "")).startswith("weft"):
        return
    if inspect.isroutine(value) or inspect.isclass(value):
        yield place, value.__doc__ or ""
    if inspect.isclass(value):
        for name, member in vars(value).items():
            yield (
                f"{place}.{name}",
                getattr(getattr(member, "__func__", member), "__doc__", "") or "",
            )


def _run(place: str, doc: str) -> list[str]:
    """What was not as the example says."""
    complaints: list[str] = []
    runner = doctest.DocTestRunner(NearlyEqual(), optionflags=doctest.NORMALIZE_WHITESPACE)
    with tf.Graph().as_default(), tf.Session() as session:
        names = {"tf": tf, "np": np, "session": session}
        example = doctest.DocTestParser().get_doctest(inspect.cleandoc(doc), names, place, None, 0)
        runner.run(example, out=complaints.append)
    tf.summary.FileWriterCache.clear()  # those of Estimators
    return complaints


@pytest.mark.parametrize("share", range(SHARES))
def test_examples(share: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are run as a user would type them, with a session of an empty graph."""
    documented = _documented()
    assert len(documented) > 400
    complaints: list[str] = []
    for number, (place, doc) in enumerate(documented[share::SHARES]):
        folder = tmp_path / str(number)  # some write files
        folder.mkdir()
        monkeypatch.chdir(folder)
        complaints += _run(place, doc)
    assert not complaints, "\n".join(complaints)


def test_an_example_that_is_wrong_is_found() -> None:
    assert _run("here", ">>> 0.3 + 0.6\n0.9\n") == []
    assert _run("here", ">>> session.run(tf.constant(2) + 2)\nnp.int32(5)\n")
