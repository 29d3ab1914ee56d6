"""Graphs, tensors and operations as HTML."""

from __future__ import annotations

import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import weft as tf
from weft.graph.pictures import graph_page

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def small_graph() -> tf.Tensor:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    with tf.name_scope("model"), tf.name_scope("layer"):
        y = tf.matmul(x, tf.ones([4, 2], name="ones"), name="product")
        with tf.control_dependencies([x]):
            z = tf.nn.relu(y, name="out")
    return z


def test_what_the_page_is_given() -> None:
    z = small_graph()
    described = graph_page.described(tf.get_default_graph())
    nodes = {node["name"]: node for node in described["nodes"]}
    names = [node["name"] for node in described["nodes"]]
    out = nodes["model/layer/out"]
    assert [names[i] for i in out["inputs"]] == ["model/layer/product"]
    assert [names[i] for i in out["controls"]] == ["x"]
    assert out["outputs"] == ["float32 (?, 2)"] and out["type"] == "Relu"
    assert out["line"] == f"test_pictures.py:{z.op.traceback[-1][1]}"


def test_functions_are_scopes() -> None:
    @tf.function
    def twice(x: tf.Tensor) -> tf.Tensor:
        return tf.add(x, x, name="sum")

    twice(tf.constant(1.0))
    described = graph_page.described(tf.get_default_graph())
    inner = [n for n in described["nodes"] if n["name"].startswith("function ")]
    assert [node["type"] for node in inner if node["name"].endswith("/sum")] == ["Add"]


def test_large_graphs_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_page, "MOST", 2)
    small_graph()
    described = graph_page.described(tf.get_default_graph())
    assert len(described["nodes"]) == 2
    assert described["left_out"] == tf.get_default_graph().version - 2


def test_the_page_stands_by_itself() -> None:
    small_graph()
    page = graph_page.graph_page(tf.get_default_graph())
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    data = re.search(r"const graph = (.*);", page)
    assert data is not None and len(json.loads(data[1])["nodes"]) == tf.get_default_graph().version
    frame = tf.get_default_graph()._repr_html_()
    assert frame.startswith("<iframe sandbox=")
    assert html.unescape(frame.partition('srcdoc="')[2]).startswith("<!doctype html>")


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="there is no browser")
def test_in_a_browser(tmp_path: Path) -> None:
    """It draws itself folded, finds a node, opens the scopes around it and tells about it."""
    small_graph()
    page = graph_page.graph_page(tf.get_default_graph())
    act = """<script>
      const first = items.size;
      byId("query").value = "matmul"; search();
      const hits = byId("count").textContent;
      choose(found()[0]);
      document.title = [first, hits, items.size, about.innerText.includes("MatMul")].join("|");
    </script></html>"""
    (tmp_path / "page.html").write_text(page.replace("</html>", act))
    assert CHROMIUM is not None
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
    done = subprocess.run(
        [*command, f"file://{tmp_path}/page.html"], capture_output=True, text=True, check=True
    )
    title = re.search("<title>(.*?)</title>", done.stdout)
    assert title is not None and title[1] == "2|1 found|4|true"


def test_a_tensor_and_an_operation() -> None:
    z = small_graph()
    shown = z._repr_html_()
    for text in ("Tensor model/layer/out:0", "float32", "(?, 2)", "Relu", "model/layer/product:0"):
        assert text in shown
    shown = z.op._repr_html_()
    for text in ("Operation model/layer/out", "output 0", "attr T", "test_pictures.py:"):
        assert text in shown
    big = tf.constant(list(range(1000)))
    assert "..." in big.op._repr_html_() and len(big.op._repr_html_()) < 5000


def test_a_variable() -> None:
    variable = tf.get_variable("w", [2, 3])
    shown = variable._repr_html_()
    for text in ("Variable w:0", "(2, 3)", "trainable"):
        assert text in shown
