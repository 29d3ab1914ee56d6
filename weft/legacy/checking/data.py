"""Data and checkpoints that a program names: strings that look like paths, defaults of flags."""

from __future__ import annotations

import ast
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weft.legacy.checking.scanning import Token
from weft.legacy.checking.sources import Source

_FILES = re.compile(
    r"\.(?:ckpt(?:-\d+)?|meta|index|npy|npz|h5|hdf5|csv|tsv|txt|pkl|pickle|json|tfrecords?|pb|pbtxt"
    r"|jpe?g|png|gif|bmp|gz|tgz|zip|tar|mat|ya?ml|wav|mp3|bin|dat|records?|vocab|model|weights)$",
    re.IGNORECASE,
)
_DEVICE = re.compile(r"/?(?:cpu|gpu|device|job|task|replica)[:/]", re.IGNORECASE)
_PLACE_IN_NAME = re.compile(r"dir|path|file|folder|checkpoint|ckpt|restore|vocab|corpus|dataset")
_WRITTEN_IN_NAME = re.compile(r"log|out|save|summar|export|result|train_dir|model_dir|job-dir")
_FLAGS = frozenset({"DEFINE_string", "DEFINE_multi_string", "add_argument"})


@dataclass(frozen=True)
class Datum:
    """A path that the program names; `flag` is the option that it is the default of."""

    path: str
    offset: int
    exists: bool
    flag: str | None = None

    @property
    def is_written(self) -> bool:
        """Whether its option's name says that the program makes it."""
        return self.flag is not None and bool(_WRITTEN_IN_NAME.search(self.flag))


def find_data(source: Source, root: Path) -> list[Datum]:
    """The paths in a program, each once, in order."""
    found: dict[str, Datum] = {}
    for statement in source.scan.statements:
        for token, flag in _candidates(statement):
            value = _text(token)
            if value is None or not looks_like_path(value, flag):
                continue
            places = (source.path.parent, root, Path())
            exists = any(_exists(place, value) for place in places)
            found.setdefault(value, Datum(value, token.start, exists, flag))
    return list(found.values())


def _candidates(statement: list[Token]) -> Iterator[tuple[Token, str | None]]:
    """(a string, the flag it is the default of)."""
    flag, default = _flag(statement)
    for token in statement:
        if token.kind == "string":
            if token is default:
                yield token, flag
            elif flag is None:
                yield token, None


def _flag(statement: list[Token]) -> tuple[str | None, Token | None]:
    """(the name of the option that a statement defines, its default's token)."""
    words = [token.text for token in statement]
    called = next((i for i, word in enumerate(words) if word in _FLAGS), None)
    strings = [token for token in statement if token.kind == "string"]
    if called is None or not strings:
        return None, None
    name = (_text(strings[0]) or "").lstrip("-")
    if "default" in words[called:]:
        after = words.index("default", called) + 2
        value = statement[after] if after < len(statement) else None
        return name, value
    is_flag = words[called] != "add_argument" and len(strings) > 1
    return name, strings[1] if is_flag and words[words.index(strings[0].text) + 1] == "," else None


def _text(token: Token) -> str | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value = ast.literal_eval(token.text)
    except (SyntaxError, ValueError):
        return None
    return value if isinstance(value, str) else None


def looks_like_path(value: str, flag: str | None = None) -> bool:
    """Whether a string is the path of something that a program reads or writes."""
    if not value or len(value) > 200 or re.search(r"[\s%{}<>*|]|://", value):
        return False
    if _DEVICE.match(value) or value.endswith(".py") or set(value) <= set("./-_"):
        return False
    if flag is not None and _PLACE_IN_NAME.search(flag.lower()):
        return True
    absolute = value.startswith(("/", "./", "../", "~/")) and any(map(str.isalpha, value))
    return absolute or bool(_FILES.search(value) and not value.startswith("."))


def _exists(folder: Path, value: str) -> bool:
    """A checkpoint counts by its prefix."""
    path = folder / os.path.expanduser(value)
    try:
        return path.exists() or path.with_name(f"{path.name}.index").exists()
    except (OSError, ValueError):
        return False
