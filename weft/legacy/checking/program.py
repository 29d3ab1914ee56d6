"""`check`: everything that can be said of a program before it runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weft.legacy.checking import old_names, tensorflow_names
from weft.legacy.checking.data import Datum, find_data
from weft.legacy.checking.packages import Package, own_modules, status_of
from weft.legacy.checking.scanning import Alias, Chain, Import
from weft.legacy.checking.scopes import Scopes
from weft.legacy.checking.sources import Source, find_files, read
from weft.legacy.checking.versions import agree


@dataclass(frozen=True)
class Finding:
    """One use of a name. `kind` is `lacking`, `old`, `package` or `syntax`.

    A finding that is `tried` stands where the program expects it to fail, and does no harm.
    """

    kind: str
    name: str
    file: Path
    cell: int | None
    line: int
    column: int
    where: str  # the place as a line of a compiler has it
    advice: str = ""
    tried: bool = False


@dataclass(frozen=True)
class Report:
    """All findings of a program."""

    path: Path
    sources: tuple[Source, ...]
    findings: tuple[Finding, ...]
    packages: tuple[Package, ...]
    data: tuple[tuple[Source, Datum], ...]

    def of(self, kind: str) -> list[Finding]:
        """The findings of a kind that count."""
        return [each for each in self.findings if each.kind == kind and not each.tried]

    @property
    def lacking(self) -> list[str]:
        """TensorFlow's names that weft lacks, each once."""
        return sorted({each.name for each in self.of("lacking")})

    @property
    def missing_packages(self) -> list[Package]:
        """Packages that must be installed before the program runs."""
        wanted = {each.name for each in self.of("package")}
        return [each for each in self.packages if each.name in wanted]

    @property
    def python2(self) -> list[Source]:
        """The files in Python 2."""
        return [source for source in self.sources if source.python == 2]

    @property
    def is_fine(self) -> bool:
        """Whether nothing is lacking."""
        return not (self.lacking or self.missing_packages or self.of("syntax"))

    @property
    def verdict(self) -> str:
        """One line about all of it."""
        if self.is_fine:
            translated = self.python2 or self.of("old")
            return "runs with translation" if translated else "runs as it is"
        lacks = [
            _count(len(self.lacking), "name"),
            _count(len(self.missing_packages), "package"),
        ]
        parts = [f"lacks {' and '.join(filter(None, lacks))}"] if any(lacks) else []
        unread = len(self.of("syntax"))
        if unread:
            parts.append(f"has {_count(unread, 'file')} that cannot be read")
        return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}" if number else ""


def check(path: Path) -> Report:
    """Reads the program at a path, a file or a folder."""
    files = find_files(path)
    sources = tuple(agree(map(read, files)))
    own = own_modules(files)
    root = path if path.is_dir() else path.parent
    readers = [Reader(source, own, root) for source in sources]
    found = {each.name: each for reader in readers for each in reader.packages.values()}
    return Report(
        path,
        sources,
        tuple(finding for reader in readers for finding in reader.findings()),
        tuple(found[name] for name in sorted(found)),
        tuple((source, each) for source in sources for each in find_data(source, root)),
    )


class Names:
    """What the names of a file stand for, by its imports and by lines such as `x = tf.x`."""

    def __init__(self, source: Source) -> None:
        self.paths: dict[str, list[str]] = {}
        self.roots: set[str] = set()
        for statement in source.scan.imports:
            for alias in statement.names:
                self._bind(statement, alias)
        for tokens in source.scan.statements:
            words = [token.text for token in tokens]
            if len(words) > 2 and words[1] == "=" and all(_is_dotted(words[2:])):
                self._alias(words[0], "".join(words[2:]))

    def _bind(self, statement: Import, alias: Alias) -> None:
        module = statement.module
        path = alias.name if module is None else f"{module}.{alias.name}"
        self.roots.add(path.partition(".")[0])
        if module is None and alias.bound is None:
            path = path.partition(".")[0]
        self.paths.setdefault(alias.bound or path.rpartition(".")[2], []).append(path)

    def _alias(self, name: str, written: str) -> None:
        for path in self.meanings(written):
            is_module = tensorflow_names.is_tensorflow(path) and tensorflow_names.module(path)
            if is_module and path not in self.paths.get(name, []):
                self.paths.setdefault(name, []).append(path)

    def meanings(self, written: str) -> list[str]:
        """The dotted paths that a written name can stand for."""
        first, dot, rest = written.partition(".")
        return [path + dot + rest for path in self.paths.get(first, [])]


def _is_dotted(words: list[str]) -> Iterator[bool]:
    for i, word in enumerate(words):
        yield word == "." if i % 2 else word.isidentifier()


class Reader:
    """Finds what there is to say of one file."""

    def __init__(self, source: Source, own: frozenset[str], root: Path) -> None:
        self.source, self._own, self._root = source, own, root
        self._scopes = Scopes(source.tree)
        self._names = Names(source)
        self._gone_builtins = old_names.gone_builtins(source.tree) if source.tree else set()
        self.packages: dict[str, Package] = {}
        self._found = list(dict.fromkeys(self._all()))

    def findings(self) -> list[Finding]:
        """The findings, with those marked that the program expects."""
        failing = [self._scan_line(each) for each in self._found if each[1] != "old"]
        marked = []
        for offset, kind, name, advice in self._found:
            place = (*self.source.place(offset), self.source.where(offset))
            tried = self._is_tried(self.source.scan.place(offset)[0], failing)
            marked.append(Finding(kind, name, self.source.path, *place, advice, tried))
        return marked

    def lacking_after_upgrade(self) -> list[Finding]:
        """What weft lacks by any name."""
        return [
            each
            for each in self.findings()
            if each.kind == "lacking"
            and not each.tried
            and each.name.removeprefix(f"{tensorflow_names.ROOT}.")
            not in tensorflow_names.BEFORE_1_0
        ]

    def _scan_line(self, found: tuple[int, str, str, str]) -> int:
        return self.source.scan.place(found[0])[0]

    def _is_tried(self, line: int, failing: list[int]) -> bool:
        """Whether another way is taken where this name is missing, or this one never is."""
        if self._scopes.is_chosen(line):
            return True
        for attempt in self._scopes.attempts:
            fails = any(each in attempt.body for each in failing)
            other = any(line in each for each in attempt.otherwise)
            if line in attempt.body or (other and not fails):
                return True
        return False

    def _all(self) -> Iterator[tuple[int, str, str, str]]:
        """(offset, kind, name, advice) of each."""
        if self.source.error is not None:
            yield self.source.scan.start_of(self.source.error_line), "syntax", self.source.error, ""
            return
        for statement in self.source.scan.imports:
            yield from self._of_import(statement)
        for chain in self.source.scan.chains:
            yield from self._of_chain(chain)

    def _of_import(self, statement: Import) -> Iterator[tuple[int, str, str, str]]:
        if statement.module is not None and statement.module.startswith("."):
            return
        for alias in statement.names:
            module = statement.module or alias.name
            if tensorflow_names.is_tensorflow(module):
                yield from self._of_tensorflow_import(statement, alias)
                continue
            start = alias.start if statement.module is None else statement.module_start
            row = None
            if statement.module is not None and module.partition(".")[0] not in self._own:
                row = old_names.name_row(f"{module}.{alias.name}")
            if row is not None:
                yield alias.start, "old", row.old, f"{row.reason}; {row.advice}"
            else:
                yield from self._of_package(module, start)

    def _of_package(self, module: str, start: int) -> Iterator[tuple[int, str, str, str]]:
        package = status_of(module, self._own)
        self.packages[package.name] = package
        if package.status in ("missing", "gone"):
            yield start, "package", package.name, package.advice
        elif package.status == "translated":
            yield start, "old", package.name, package.advice

    def _of_tensorflow_import(
        self, statement: Import, alias: Alias
    ) -> Iterator[tuple[int, str, str, str]]:
        module = statement.module or alias.name
        if self.is_own_file(module):
            return
        if tensorflow_names.module(module) is None:
            start = alias.start if statement.module is None else statement.module_start
            name = module if old_names.row_before_1_0(module) else tensorflow_names.missing(module)
            yield self._lacking_or_old(start, name or module)
        elif statement.module is not None and alias.name != "*":
            lacking = tensorflow_names.missing(f"{module}.{alias.name}")
            if lacking is not None and not self.is_own_file(f"{module}.{alias.name}"):
                yield self._lacking_or_old(alias.start, lacking)

    def is_own_file(self, module: str) -> bool:
        """`tensorflow.examples.x` may be a file of the program's own."""
        parts = module.split(".")
        if parts[1:2] not in (["examples"], ["models"]) or len(parts) < 3:
            return False
        inside = self.source.path.resolve().parents
        places = [Path(folder, *parts[:3]) for folder in (self._root, Path.cwd(), *inside)]
        return any(place.is_dir() or place.with_suffix(".py").exists() for place in places)

    def _lacking_or_old(self, start: int, name: str) -> tuple[int, str, str, str]:
        row = old_names.row_before_1_0(name)
        if row is None:
            return self._lacking(start, name)
        return start, "old", row.old, f"{row.reason}; {row.advice}"

    def _lacking(self, start: int, name: str) -> tuple[int, str, str, str]:
        meant = tensorflow_names.suggestion(name)
        return start, "lacking", name, f"perhaps {meant}" if meant else ""

    def _of_chain(self, chain: Chain) -> Iterator[tuple[int, str, str, str]]:
        first = chain.parts[0]
        line, _ = self.source.scan.place(first.start)
        if len(chain.parts) == 1 and self.source.python == 3:
            yield from self._of_built_in(chain)
        if len(chain.parts) == 1 or chain.is_assigned:
            return
        shadowed = self._scopes.is_shadowed(first.text, line)
        paths = [] if shadowed else self._names.meanings(chain.path)
        if paths and all(map(tensorflow_names.is_tensorflow, paths)):
            yield from self._of_tensorflow_chain(chain, paths)
        elif paths:
            yield from self._of_old_name(chain, paths[0])
        else:
            yield from self._of_members(chain)

    def _of_tensorflow_chain(
        self, chain: Chain, paths: list[str]
    ) -> Iterator[tuple[int, str, str, str]]:
        """A name lacks when it does by each of its meanings; of an import, that was said there."""
        lacking = [tensorflow_names.missing(path) for path in paths]
        if not all(lacking):
            return
        imported = len(paths[0].split(".")) - len(chain.parts)
        part = str(lacking[0]).count(".") - imported
        if part > 0 and not any(map(self.is_own_file, paths)):
            yield self._lacking_or_old(chain.parts[part].start, str(lacking[0]))

    def _of_old_name(self, chain: Chain, path: str) -> Iterator[tuple[int, str, str, str]]:
        before = path.count(".") + 1 - len(chain.parts)
        parts = path.split(".")
        if parts[0] in self._own:
            return
        for i in range(1, len(chain.parts)):
            row = old_names.name_row(".".join(parts[: before + i + 1]))
            if row is not None:
                advice = f"{row.reason}; {row.advice}"
                yield chain.parts[i].start, "old", row.old, advice
                return

    def _of_built_in(self, chain: Chain) -> Iterator[tuple[int, str, str, str]]:
        name = chain.parts[0]
        if name.text in self._gone_builtins:
            row = old_names.BUILTINS[name.text]
            yield name.start, "old", row.shown, f"{row.reason}; {row.advice}"

    def _of_members(self, chain: Chain) -> Iterator[tuple[int, str, str, str]]:
        last = chain.parts[-1]
        row = old_names.member_row(last.text, self._names.roots)
        if row is not None:
            yield last.start, "old", row.old, f"{row.reason}; {row.advice}"
