"""The debugger in a whole terminal: answers with colours and links, and the graph as a tree.

Needs textual (the extra `weft[debug]`). Links run the commands they stand for; the tree at the left
holds the nodes by their scopes, and a node that is chosen there is shown by `ni`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.suggester import Suggester
from textual.widgets import Input, Static, Tree

from weft.lib.debug.commands import EXPLICIT_USER_EXIT, CommandHistory
from weft.lib.debug.prompt import BaseUI
from weft.lib.debug.text import INIT_SCROLL_POS_KEY, MAIN_MENU_KEY, MenuItem, RichTextLines

_COLORS = {"gray": "bright_black"}
_STYLES = ("bold", "underline", "blink", "reverse")


def as_text(output: RichTextLines) -> Text:
    """An answer as rich text; a link carries the command it runs."""
    text = Text()
    for row, line in enumerate(output.lines):
        part = Text(line + "\n")
        for start, end, kinds in output.font_attr_segs.get(row, ()):
            for kind in kinds if isinstance(kinds, list) else [kinds]:
                if kind is not None:
                    part.stylize(_style(kind), start, end)
        text.append_text(part)
    return text


def _style(kind: Any) -> Style:
    if isinstance(kind, MenuItem):
        link = f"app.command({kind.content!r})"
        return Style(underline=True, meta={"@click": link}) if kind.content else Style(dim=True)
    if kind in _STYLES:
        return Style.parse(kind)
    return Style(color=_COLORS.get(kind, kind))


class _Commands(Suggester):
    """Offers how a line may go on."""

    def __init__(self, completions: Callable[[str], list[str]]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._completions = completions

    async def get_suggestion(self, value: str) -> str | None:
        return next(iter(self._completions(value)), None)


class DebuggerApp(App[Any]):
    """One visit of the prompt; its result is what the prompt ends with."""

    CSS = """
    #title { background: $primary; color: $text; height: 1; padding: 0 1; }
    #graph { width: 32%; border-right: solid $primary; display: none; }
    #graph.shown { display: block; }
    #answer { padding: 0 1; width: auto; }
    """
    BINDINGS: ClassVar = [
        Binding("ctrl+g", "graph", "Graph"),
        Binding("ctrl+p", "previous", "Before", priority=True),
        Binding("ctrl+n", "next", "After", priority=True),
        Binding("up", "history(-1)", show=False),
        Binding("down", "history(1)", show=False),
        Binding("pageup", "page(-1)", show=False, priority=True),
        Binding("pagedown", "page(1)", show=False, priority=True),
        Binding("ctrl+d", "command('exit')", show=False, priority=True),
    ]
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, ui: ScreenUI, init_command: str | None, title: str) -> None:
        super().__init__()
        self.ui, self.first, self.heading = ui, init_command, title
        self.visited: list[str] = []  # commands that answered, for going back
        self.at = -1
        self.recalled = 0  # how far back in the history the line comes from

    def compose(self) -> ComposeResult:
        yield Static(self.heading, id="title", markup=False)
        with Horizontal():
            yield Tree("graph", id="graph")
            with VerticalScroll(id="page"):
                yield Static("", id="answer", markup=False)
        hint = "command (help; Ctrl-G graph; Ctrl-P/N before/after; exit)"
        yield Input(placeholder=hint, id="line", suggester=_Commands(self.ui.completions))

    def on_mount(self) -> None:
        """Fills the tree and runs the first command."""
        tree = self.query_one(Tree)
        tree.root.expand()
        _grow(tree.root, self.ui.node_names())
        self.query_one(Input).focus()
        if self.first:
            self.obey(self.first)

    # ---- commands ----

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Obeys the line that was typed."""
        line, event.input.value, self.recalled = event.value.strip(), "", 0
        if line:
            self.ui.history.add_command(line)
            self.obey(line)

    def on_tree_node_selected(self, event: Tree.NodeSelected[str]) -> None:
        """Shows a node of the graph."""
        if event.node.data:
            self.obey(f"ni -a -d -t {event.node.data}")

    def action_command(self, command: str) -> None:
        self.obey(command)

    def obey(self, command: str, is_new: bool = True) -> None:
        """Runs a command and shows its answer; ends the visit if it says so."""
        token, output = self.ui.answer(command, {"cols": max(self.size.width - 4, 40)})
        if token is not None:
            self.exit(token)
            return
        if output is not None:
            self.show(output)
        if is_new:
            self.visited = [*self.visited[: self.at + 1], command]
            self.at = len(self.visited) - 1

    def show(self, output: RichTextLines) -> None:
        menu = output.annotations.get(MAIN_MENU_KEY)
        text = Text()
        if menu is not None:
            text.append_text(as_text(menu.format_as_single_line(prefix="| ")))
            text.append("\n")
        text.append_text(as_text(output))
        self.query_one("#answer", Static).update(text)
        row = output.annotations.get(INIT_SCROLL_POS_KEY, 0)
        self.query_one("#page").scroll_to(y=row, animate=False)

    # ---- keys ----

    def action_graph(self) -> None:
        """Shows or hides the tree."""
        tree = self.query_one(Tree)
        tree.toggle_class("shown")
        (tree if tree.has_class("shown") else self.query_one(Input)).focus()

    def action_previous(self) -> None:
        self._go(-1)

    def action_next(self) -> None:
        self._go(1)

    def _go(self, by: int) -> None:
        if 0 <= self.at + by < len(self.visited):
            self.at += by
            self.obey(self.visited[self.at], is_new=False)

    def action_history(self, by: int) -> None:
        """Brings an earlier command back to the line."""
        kept = self.ui.history.most_recent_n(100)
        self.recalled = min(max(self.recalled - by, 0), len(kept))
        line = self.query_one(Input)
        line.value = kept[-self.recalled] if self.recalled else ""
        line.cursor_position = len(line.value)

    def action_page(self, by: int) -> None:
        page = self.query_one("#page")
        page.scroll_relative(y=by * max(page.size.height - 2, 1), animate=False)


def _grow(root: Any, names: list[str]) -> None:
    """Hangs nodes on the branches of their scopes."""
    scopes: dict[str, Any] = {"": root}
    inner = {name.rpartition("/")[0] for name in names}
    inner |= {scope[:i] for scope in inner for i, c in enumerate(scope) if c == "/"}
    for scope in sorted(inner - {""}):
        above, _, last = scope.rpartition("/")
        data = scope if scope in names else None
        scopes[scope] = scopes[above].add(last, data=data)
    for name in sorted(set(names) - inner):
        above, _, last = name.rpartition("/")
        scopes[above].add_leaf(last, data=name)


class ScreenUI(BaseUI):
    """The prompt that fills the terminal."""

    def __init__(self, on_ui_exit: Callable[[], object] | None = None, config: Any = None) -> None:
        super().__init__(on_ui_exit, config)
        self.history = CommandHistory()

    def _tell(self, message: str) -> None:
        """Where an answer was written to is seen in the file."""

    def node_names(self) -> list[str]:
        """The nodes of the run that is looked at."""
        found, _ = self._tab_completion_registry.get_completions("node_info", "")
        return found or []

    def run_ui(
        self, init_command: str | None = None, title: str | None = None,
        title_color: str | None = None, enable_mouse_on_start: bool = True,
    ) -> Any:  # fmt: skip
        """Fills the terminal until a command ends the prompt."""
        app = DebuggerApp(self, init_command, title or "tfdbg")
        token = app.run(mouse=enable_mouse_on_start and self.config.get("mouse_mode"))
        if self._on_ui_exit is not None:
            self._on_ui_exit()
        # A prompt that was closed without a command ends the program.
        return EXPLICIT_USER_EXIT if token is None else token
