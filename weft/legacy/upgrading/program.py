"""`upgrade`: the text of a program as it is, and as plain Python with weft takes it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.legacy.checking import packages
from weft.legacy.checking.program import Names, Reader
from weft.legacy.checking.scopes import Scopes
from weft.legacy.checking.sources import (
    Source,
    cell_text,
    code_cells,
    encoding_of,
    find_files,
    read,
    source_of,
)
from weft.legacy.checking.versions import agree
from weft.legacy.upgrading import neighbours, one_element, python2, tensorflow_names
from weft.legacy.upgrading.edits import Edit, apply, import_place
from weft.legacy.upgrading.old_names import OldNames


@dataclass(frozen=True)
class Upgrade:
    """A file before and after. `notes` say what was left for its author."""

    path: Path
    before: str
    after: str
    data: bytes  # what to write
    notes: tuple[str, ...]

    @property
    def is_changed(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after


def upgrade(path: Path) -> list[Upgrade]:
    """Every program at or below a path, upgraded; nothing is written."""
    files = find_files(path)
    own = packages.own_modules(files)
    root = path if path.is_dir() else path.parent
    return [_upgraded(source, own, root) for source in agree(map(read, files))]


def _upgraded(source: Source, own: frozenset[str], root: Path) -> Upgrade:
    notes: list[str] = []
    if source.error is not None:
        notes.append(f"{source.path}: cannot be read: line {source.error_line}: {source.error}")
        return Upgrade(source.path, source.text, source.text, source.path.read_bytes(), (*notes,))
    translated = source if source.python == 3 else _translated(source, notes)
    reader = Reader(source, own, root)
    notes += [
        f"{each.where}: {each.name} is not in weft" for each in reader.lacking_after_upgrade()
    ]
    edits = _edits(translated, own, reader, notes, source.python)
    if source.path.suffix == ".ipynb":
        return _notebook(source, edits, notes)
    after = apply(translated.text, edits)
    data = after.encode(encoding_of(source.path.read_bytes()))
    return Upgrade(source.path, source.text, after, data, tuple(notes))


def _translated(source: Source, notes: list[str]) -> Source:
    text = None if source.cells else python2.translated(source.text)
    if text is None:
        notes.append(f"{source.path}: is Python 2, and was not translated")
        return source
    translated = source_of(source.path, text)
    return source_of(source.path, apply(text, neighbours.edits(translated)))


def _edits(
    source: Source, own: frozenset[str], reader: Reader, notes: list[str], python: int
) -> list[Edit]:
    names, scopes = Names(source), Scopes(source.tree)
    found = [
        *tensorflow_names.edits_of_imports(source, reader.is_own_file),
        *tensorflow_names.edits_of_chains(source, names, scopes),
        *one_element.edits(source, names),
    ]
    old = OldNames(source, names, scopes, own, python)
    needed = set(old.imports)
    if any(edit.text == tensorflow_names.LEGACY for edit in found):
        needed.add(tensorflow_names.LEGACY_IMPORT)
    if any(edit.text.startswith(f"{tensorflow_names.OLD}.") for edit in found):
        needed.add(tensorflow_names.OLD_IMPORT)
    if needed:
        place = import_place(source.text, source.tree)
        found.append(Edit(place, place, "".join(f"{line}\n" for line in sorted(needed))))
    notes += [f"{source.where(offset)}: {name} is left as it is" for offset, name in old.left]
    return [*found, *old.edits]


def _notebook(source: Source, edits: list[Edit], notes: list[str]) -> Upgrade:
    """A notebook with its cells edited, one by one."""
    data = source.path.read_bytes()
    notebook = json.loads(data)
    before, after, start = [], [], 0
    for cell in code_cells(notebook):
        text = cell_text(cell)
        end = start + len(text)
        here = [edit for edit in edits if start <= edit.start <= end]
        new = apply(text, (Edit(e.start - start, e.end - start, e.text) for e in here))
        edits = [edit for edit in edits if edit not in here]
        cell["source"] = _stored(new, cell)
        before.append(text)
        after.append(new)
        start = end + 1
    changed = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    data = changed.encode() if before != after else data
    return Upgrade(source.path, "\n".join(before), "\n".join(after), data, tuple(notes))


def _stored(text: str, cell: dict[str, Any]) -> str | list[str]:
    return text.splitlines(keepends=True) if isinstance(cell["source"], list) else text
