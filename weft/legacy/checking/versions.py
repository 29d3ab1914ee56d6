"""Which Python the files of a folder are for: those that import one another are for one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from weft.legacy.checking import old_names
from weft.legacy.checking.sources import Source, old_source


def agree(sources: Iterable[Source]) -> list[Source]:
    """The sources, all those of a program in Python 2 where one can be nothing else."""
    found = list(sources)
    groups = _groups(found)
    old = {groups[each.path] for each in found if each.path in groups and _is_certain(each)}
    old |= {groups[path] for path in _importing_neighbours(found) if path in groups}
    return [
        _as_python2(each) if each.python == 3 and groups.get(each.path) in old else each
        for each in found
    ]


def _is_certain(source: Source) -> bool:
    return source.python == 2 and old_names.is_certain(source.text.encode(), str(source.path))


def _importing_neighbours(sources: list[Source]) -> Iterator[Path]:
    """Files of packages that import others by their names alone, as only Python 2 finds them."""
    if any("sys.path" in each.text for each in sources):
        return
    files = [each.path.resolve() for each in sources]
    for source in sources:
        path = source.path.resolve()
        folders = _folders(path.parent, files) - {path.parent}
        if source.tree is not None and old_names.imports_neighbours(source.tree, path, folders):
            yield source.path


def _groups(sources: list[Source]) -> dict[Path, Path]:
    """Each file -> one that stands for all those that it is connected with by imports."""
    files = {each.path.resolve(): each.path for each in sources if each.path.suffix == ".py"}
    group = {path: path for path in files.values()}
    for source in sources:
        if source.path in group:
            folders = _folders(source.path.resolve().parent, files)
            for imported in old_names.imported_files(source.text.encode(), folders):
                if imported in files:
                    one, other = group[source.path], group[files[imported]]
                    group = {path: one if to == other else to for path, to in group.items()}
    return group


def _folders(folder: Path, files: Iterable[Path]) -> set[Path]:
    """The folder of a file, and those above it up to one that has all files of the program."""
    above = [folder, *folder.parents]
    last = next(i for i, each in enumerate(above) if all(map(_is_in(each), files)))
    return set(above[: last + 1])


def _is_in(folder: Path) -> Callable[[Path], bool]:
    return lambda file: file.is_relative_to(folder)


def _as_python2(source: Source) -> Source:
    if source.tree is None:
        return source
    old = old_source(source.path, source.text, ValueError(), source.cells)
    return old if old.error is None else replace(source, python=2)
