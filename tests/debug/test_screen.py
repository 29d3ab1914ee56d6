"""The debugger that fills the terminal (the extra `weft[debug]`)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

import weft as tf
from weft.lib import debug
from weft.lib.debug.commands import EXPLICIT_USER_EXIT

pytest.importorskip("textual", reason="textual is not installed (weft[debug])")

from textual.widgets import Input, Static, Tree

from weft.lib.debug.analyzer import create_analyzer_ui
from weft.lib.debug.screen import DebuggerApp, as_text
from weft.lib.debug.text import MenuItem, RichLine, rich_text_lines_from_rich_line_list


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DebuggerApp:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("weft.lib.debug.ui._fills_terminal", lambda: True)
    with tf.name_scope("scope"):
        y = tf.add(tf.constant([1.0, 2.0], name="x"), 1.0, name="y")
    options = tf.RunOptions(output_partition_graphs=True)
    root = tmp_path / "dump"
    debug.watch_graph(options, tf.get_default_graph(), debug_urls=f"file://{root}")
    with tf.Session() as session:
        session.run(y, options=options, run_metadata=tf.RunMetadata())
    ui = create_analyzer_ui(debug.DebugDumpDir(str(root)))
    return DebuggerApp(ui, "lt", "run-end: run #1")


def driven(app: DebuggerApp, drive: Callable[[Any], Coroutine[Any, Any, None]]) -> Any:
    async def run() -> None:
        async with app.run_test(size=(120, 40)) as pilot:
            await pilot.pause()
            await drive(pilot)

    asyncio.run(run())
    return app.return_value


def shown(app: DebuggerApp) -> str:
    return str(app.query_one("#answer", Static).render())


def test_commands_and_what_they_answer(app: DebuggerApp) -> None:
    async def drive(pilot: Any) -> None:
        assert "scope/y:0" in shown(app) and "list_tensors | node_info" in shown(app)
        app.query_one(Input).value = "pt scope/y"
        await pilot.press("enter")
        assert "array([2., 3.]" in shown(app)
        await pilot.press("ctrl+p")
        assert "dumped tensor(s)" in shown(app)
        await pilot.press("ctrl+n")
        assert "array([2., 3.]" in shown(app)
        await pilot.press("up")
        assert app.query_one(Input).value == "pt scope/y"
        app.query_one(Input).value = "exit"
        await pilot.press("enter")

    assert driven(app, drive) == EXPLICIT_USER_EXIT


def test_the_graph_as_a_tree(app: DebuggerApp) -> None:
    async def drive(pilot: Any) -> None:
        await pilot.press("ctrl+g")
        tree = app.query_one(Tree)
        assert tree.has_class("shown")
        (scope,) = tree.root.children
        assert {str(leaf.label) for leaf in scope.children} == {"x", "y"}
        leaf = next(leaf for leaf in scope.children if leaf.data == "scope/y")
        tree.post_message(Tree.NodeSelected(leaf))
        await pilot.pause()
        assert "Node scope/y" in shown(app)

    driven(app, drive)


def test_links_carry_their_commands() -> None:
    line = (
        RichLine("see ") + RichLine("y", [MenuItem("", "pt y"), "bold"]) + RichLine(" red", "red")
    )
    text = as_text(rich_text_lines_from_rich_line_list([line]))
    assert text.plain == "see y red\n"
    styles = [(span.start, span.end, span.style) for span in text.spans]
    assert any(s.meta.get("@click") == "app.command('pt y')" for _, _, s in styles if s.meta)
    assert (5, 9) in [(start, end) for start, end, _ in styles]
