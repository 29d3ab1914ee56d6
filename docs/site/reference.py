"""The pages of the API reference, one for each public namespace, printed from docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

SECTION = re.compile(r"^(Args|Returns|Raises|Attributes|Example|Yields):$")
HIDDEN = frozenset({"python", "examples", "raw_ops", "api", "compat", "nest"})


def write(source: Path) -> list[str]:
    """Writes the pages below `source`; returns their paths in it, in order."""
    (source / "reference").mkdir()
    pages = []
    for name, module in namespaces():
        path = f"reference/{name}.md"
        (source / path).write_text(page(name, module))
        pages.append(path)
    return pages


def namespaces() -> list[tuple[str, ModuleType]]:
    """(`tf.nn`, its module) for every namespace that weft/api makes, and those of tf.contrib."""
    import weft

    found: dict[str, ModuleType] = {"tf": weft}
    _collect("tf", weft, found)
    for part in weft.contrib.PARTS:
        found[f"tf.contrib.{part}"] = getattr(weft.contrib, part)
    return sorted(found.items())


def _collect(path: str, module: ModuleType, found: dict[str, ModuleType]) -> None:
    for name in dir(module):
        value = None if name.startswith("_") or name in HIDDEN else getattr(module, name)
        if isinstance(value, ModuleType) and value.__name__.startswith("weft.api"):
            found[f"{path}.{name}"] = value
            _collect(f"{path}.{name}", value, found)


def page(path: str, module: ModuleType) -> str:
    entries = "\n".join(entry(f"{path}.{name}", value) for name, value in _members(module))
    return f"# {path}\n\n{escaped(inspect.getdoc(module) or '')}\n\n{entries}"


def _members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    for name in dir(module):
        value = None if name.startswith("_") else getattr(module, name)
        if not isinstance(value, ModuleType) and _is_public(value):
            yield name, value


def _is_public(value: Any) -> bool:
    home = getattr(value, "__module__", None) or ""
    is_ours = home.startswith(("weft", "tensorboard")) or type(value).__name__ == "MessageMeta"
    return is_ours and (inspect.isroutine(value) or inspect.isclass(value))


def entry(name: str, value: Any) -> str:
    kind = "class " if inspect.isclass(value) else ""
    lines = [f"## {name}", "", "```python", f"{kind}{name}{signature(value)}", "```", ""]
    return "\n".join([*lines, *body(inspect.getdoc(value) or ""), ""])


def signature(value: Any) -> str:
    """The parameters with their defaults, without types; objects among these as `...`."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return "(...)"
    return f"({', '.join(_shown(parameter) for parameter in parameters)})"


def _shown(parameter: inspect.Parameter) -> str:
    bare = str(parameter.replace(annotation=parameter.empty, default=parameter.empty))
    if parameter.default is parameter.empty:
        return bare
    shown = repr(parameter.default)
    return f"{bare}={'...' if shown.startswith('<') else shown}"


def body(doc: str) -> Iterator[str]:
    """A docstring as Markdown: sections as lists, examples as code."""
    title = ""
    for line in doc.split("\n"):
        if found := SECTION.match(line):
            if title == "Example":
                yield "```\n"
            title = found[1]
            yield "```pycon" if title == "Example" else f"**{title}**\n"
        elif title == "Example":
            yield line[4:]
        elif title and (item := re.match(r"^    ([\w.*, ]+): (.*)", line)) and title != "Returns":
            yield f"- `{item[1]}`: {escaped(item[2])}"
        else:
            yield escaped(line.strip())
    if title == "Example":
        yield "```"


def escaped(text: str) -> str:
    """Text in which brackets, stars and angles are not taken for Markdown, outside of code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(p if p.startswith("`") else re.sub(r"([\[\]*_<>|#])", r"\\\1", p) for p in parts)
