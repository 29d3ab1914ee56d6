"""Old names of Python, NumPy and other libraries as today's, by the table."""

from __future__ import annotations

import builtins
import importlib.util
import re
from collections.abc import Iterator

from weft.legacy.checking import old_names
from weft.legacy.checking import tensorflow_names as known
from weft.legacy.checking.program import Names
from weft.legacy.checking.scanning import Alias, Chain, Import, Token
from weft.legacy.checking.scopes import Scopes
from weft.legacy.checking.sources import Source
from weft.legacy.upgrading.edits import Edit

# Where the table has a stand-in for a method, and plain Python a method that does.
_METHODS = {"iteritems": "items", "iterkeys": "keys", "itervalues": "values"}


class OldNames:
    """The edits of one file, and the imports that they need."""

    def __init__(
        self,
        source: Source,
        names: Names,
        scopes: Scopes,
        own: frozenset[str],
        python: int = 3,
    ) -> None:
        self._source, self._names, self._scopes, self._own = source, names, scopes, own
        self._python = python  # what it was written for
        self._gone_builtins = old_names.gone_builtins(source.tree) if source.tree else set()
        self.imports: set[str] = set()
        self.left: list[tuple[int, str]] = []  # (offset, name) of what could not be edited
        self.edits = [*self._of_imports(), *self._of_chains(), *self._of_methods()]
        self.edits += _file_modes(source)

    def _of_imports(self) -> Iterator[Edit]:
        for statement in self._source.scan.imports:
            line, _ = self._source.scan.place(statement.start)
            if self._is_tried(line):
                continue
            if known.is_tensorflow(statement.module or "") and not known.is_before_1_0(
                str(statement.module)
            ):
                continue
            if statement.module is None:
                yield from self._of_plain_import(statement)
            elif statement.module.partition(".")[0] not in self._own:
                yield from self._of_from(statement)

    def _of_plain_import(self, statement: Import) -> Iterator[Edit]:
        for alias in statement.names:
            is_there = self._is_there(alias.name) or (
                known.is_tensorflow(alias.name) and not known.is_before_1_0(alias.name)
            )
            row = None if is_there else old_names.module_row(alias.name)
            if row is None or row.substitute.startswith("pip "):
                continue
            if row.old != alias.name or not row.substitute or not (alias.bound or _flat(alias)):
                self.left.append((alias.start, alias.name))
                continue
            yield Edit(alias.start, alias.end, f"{row.substitute} as {alias.bound or alias.name}")

    def _is_there(self, module: str) -> bool:
        root = module.partition(".")[0]
        return root in self._own or (_found(root) and _found(module))

    def _of_from(self, statement: Import) -> Iterator[Edit]:
        if [alias.name for alias in statement.names] == ["*"]:
            yield from self._of_star(statement)
            return
        places = {alias: self._place(str(statement.module), alias) for alias in statement.names}
        if not any(places.values()):
            return
        rest = [_written(alias) for alias in statement.names if places[alias] is None]
        parts = [f"from {statement.module} import {', '.join(rest)}"] if rest else []
        parts += [
            _import_of(place, alias.bound or alias.name)
            for alias, place in places.items()
            if place is not None
        ]
        yield Edit(statement.start, statement.end, "; ".join(parts))

    def _of_star(self, statement: Import) -> Iterator[Edit]:
        """`from types import *`, and of the old names those that the file uses."""
        used = {chain.parts[0].text for chain in self._source.scan.chains}
        rows = {name: old_names.name_row(f"{statement.module}.{name}") for name in sorted(used)}
        parts = [
            _import_of(row.substitute, name)
            for name, row in rows.items()
            if row is not None and row.substitute and not row.substitute.startswith("pip ")
        ]
        if parts:
            yield Edit(statement.end, statement.end, "".join(f"; {part}" for part in parts))

    def _place(self, module: str, alias: Alias) -> str | None:
        """Where a name that is imported from a module is today; None: where it was."""
        row = old_names.name_row(f"{module}.{alias.name}", self._python)
        if row is not None and row.substitute and not row.substitute.startswith("pip "):
            return row.substitute
        above = None if self._is_there(module) else old_names.module_row(module)
        if above is None or above.old != module or not above.substitute:
            return None
        return None if above.substitute.startswith("pip ") else f"{above.substitute}.{alias.name}"

    def _of_chains(self) -> Iterator[Edit]:
        for chain in self._source.scan.chains:
            line, _ = self._source.scan.place(chain.parts[0].start)
            shadowed = self._scopes.is_shadowed(chain.parts[0].text, line)
            if chain.path in self._gone_builtins and not self._is_tried(line):
                yield Edit(chain.parts[0].start, chain.parts[0].end, self._built_in(chain.path))
            elif len(chain.parts) > 1 and not chain.is_assigned and not shadowed:
                for path in self._names.meanings(chain.path)[:1]:
                    yield from self._of_chain(chain, path)

    def _is_tried(self, line: int) -> bool:
        """Whether the program has its own way out of what is missing at a line."""
        return any(line in attempt.body for attempt in self._scopes.attempts)

    def _built_in(self, name: str) -> str:
        return self._expression(old_names.BUILTINS[name].substitute, name, name)

    def _of_chain(self, chain: Chain, path: str) -> Iterator[Edit]:
        parts = path.split(".")
        before = len(parts) - len(chain.parts)
        if parts[0] in (*self._own, known.ROOT):
            return
        for i in range(1, len(chain.parts)):
            row = old_names.name_row(".".join(parts[: before + i + 1]), self._python)
            if row is not None and row.substitute and not row.substitute.startswith("pip "):
                bound = ".".join(parts[: before + 1])
                new = self._expression(row.substitute, chain.parts[0].text, bound)
                yield Edit(chain.parts[0].start, chain.parts[i].end, new)
                return

    def _expression(self, place: str, first: str, bound: str) -> str:
        """A name of today as the file can write it."""
        name = place.removeprefix("builtins.")
        if name in vars(builtins) and name not in self._names.paths:
            return name
        module = place if _found(place) else _module_of(place)
        if place.startswith(f"{bound}."):
            if module != bound:
                self.imports.add(f"import {module}")
            return first + place.removeprefix(bound)
        root = module.partition(".")[0]
        if self._names.paths.get(root, [root]) == [root]:
            self.imports.add(f"import {module}")
            return place
        self.imports.add(f"import {module} as {module.replace('.', '_')}")
        return module.replace(".", "_") + place.removeprefix(module)

    def _of_methods(self) -> Iterator[Edit]:
        of_modules = self._names_of_modules()
        for statement in self._source.scan.statements:
            for i, token in enumerate(statement[1:], 1):
                if statement[i - 1].text == "." and token.kind == "name":
                    if token.start in of_modules:
                        continue
                    called = [each.text for each in statement[i + 1 : i + 2]] == ["("]
                    yield from self._of_method(token, called)

    def _names_of_modules(self) -> set[int]:
        """The offsets of the names that are taken of what was imported: `np.fromstring`."""
        return {
            part.start
            for chain in self._source.scan.chains
            if self._names.meanings(chain.path)
            for part in chain.parts[1:]
        }

    def _of_method(self, token: Token, called: bool) -> Iterator[Edit]:
        row = old_names.member_row(token.text, self._names.roots)
        if row is None:
            return
        holder, _, name = row.substitute.rpartition(".")
        same_class = holder.rpartition(".")[2] == row.holder.rpartition(".")[2]
        new = _METHODS.get(token.text) or (name if same_class else None)
        if row.kind == "method" and new is not None and called:
            yield Edit(token.start, token.end, new)
        else:
            self.left.append((token.start, row.old))


def _flat(alias: Alias) -> bool:
    return "." not in alias.name


def _written(alias: Alias) -> str:
    return f"{alias.name} as {alias.bound}" if alias.bound else alias.name


def _import_of(place: str, bound: str) -> str:
    """A statement that makes a name mean what is at a place."""
    if "." not in place or _found(place):
        return f"import {place} as {bound}"
    module = _module_of(place)
    name = place.removeprefix(f"{module}.")
    if "." in name:  # of a class: `builtins.str.lower`
        return (
            f"{bound} = {name}" if module == "builtins" else f"import {module}; {bound} = {place}"
        )
    return f"from {module} import {name}{'' if name == bound else f' as {bound}'}"


def _module_of(place: str) -> str:
    module = place.rpartition(".")[0]
    return module if not module or _found(module) else _module_of(module)


def _found(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _file_modes(source: Source) -> Iterator[Edit]:
    """`open(path, 'rU')`: Python no longer takes the `U`."""
    for statement in source.scan.statements:
        words = {token.text for token in statement}
        for token in statement if "open" in words else ():
            if re.fullmatch(r"['\"][rb]?U[rb]?['\"]", token.text):
                mode = token.text[1:-1].replace("U", "") or "r"
                yield Edit(token.start, token.end, token.text[0] + mode + token.text[0])
