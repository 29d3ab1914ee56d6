"""The state of servers as data, pictures of graphs, and who may ask for them."""

from __future__ import annotations

import http.client
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tests.serve.extra
import weft as tf
from tests.cluster.conftest import servers as servers
from weft.cluster.guard.security import Credentials
from weft.cluster.server import Server
from weft.pages.pictures import Item, box_of, picture
from weft.pages.status import ServerStatus
from weft.traces import files

assert tests.serve.extra.LIBRARIES
pytestmark = pytest.mark.timeout(120)


def ask(address: str, path: str, method: str = "GET", **headers: str) -> tuple[int, bytes]:
    host = address.partition("//")[2].rstrip("/")
    connection = http.client.HTTPConnection(host, timeout=60)
    try:
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def test_everything_that_a_server_holds(servers: Any) -> None:
    found = servers(ps=1, worker=1)
    with tf.device("/job:ps"):
        w = tf.get_variable("net/w", [3, 4], initializer=tf.ones_initializer())
        tf.get_variable("empty", [2])
        queue = tf.FIFOQueue(5, [tf.float32], [[]], shared_name="todo")
    put, take = queue.enqueue_many([[1.0, 2.0]]), queue.dequeue_many(4)
    ps, worker = (ServerStatus(found[job][0]) for job in ("ps", "worker"))
    with tf.Session(found["worker"][0].target) as session:
        session.run([w.initializer, put])
        waiting = threading.Thread(target=lambda: session.run(take))
        waiting.start()
        while not any(step["waits_for"] for step in ps.state()["steps"]):
            pass
        state = ps.state()
        (own,) = worker.state()["sessions"]
        drawn = worker.graph({"session": own["session"], "open": "net"})
        session.run(put)
        waiting.join()
    assert [(v["name"], v["shape"], v["bytes"]) for v in state["variables"]] == [
        ("net/w", [3, 4], 48)
    ]
    assert [(q["name"], q["length"], q["capacity"], q["waiting"]) for q in state["queues"]] == [
        ("todo", 0, 5, 1)  # two of the four that are wanted have been taken
    ]
    assert state["devices"][0]["variables"] == 48
    assert all(task["answers"] for task in state["tasks"])
    assert state["graphs"] and state["process"]["resident"] > 0
    assert own["steps"] >= 1 and own["under_way"] == 1
    assert "net/w/" in [box["name"] for box in drawn["boxes"]]
    json.dumps(state)


def test_the_site_and_who_may_ask(tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("secret\n")
    tokens.chmod(0o600)
    own = Credentials(token_file=str(tokens))
    server = Server({"a": ["localhost:0"]}, "a", 0, credentials=own)
    site = ServerStatus(server).site(own)
    try:
        address = site.listen("localhost", 0)
        token = {"Authorization": "Bearer secret"}
        assert ask(address, "/")[0] == 200
        assert ask(address, "/status.js")[0] == 200
        assert ask(address, "/status.json")[0] == 401
        assert ask(address, "/", Host="evil.example")[0] == 421
        status, body = ask(address, "/status.json", **token)
        assert status == 200 and json.loads(body)["title"] == "/job:a/replica:0/task:0"
        assert ask(address, "/graph.json?session=none", **token)[0] == 404
        assert ask(address, "/trace", **token)[0] == 405
        status, body = ask(address, "/trace?seconds=0.05", "POST", **token)
        assert status == 200 and "traceEvents" in files.from_bytes(body)
        assert ask(address, "/trace?seconds=long", "POST", **token)[0] == 503
    finally:
        site.stop()
        server.stop()


def test_models_have_a_status_too(client: Any) -> None:
    client.predict("half_plus_two", x=np.float32([1.0]))
    status, text = client.rest("GET", "/status.json")
    state = json.loads(text)
    assert status == 200 and state["models"][0]["name"] == "half_plus_two"
    assert state["variables"] and all(v["initialized"] for v in state["variables"])
    drawn = json.loads(client.rest("GET", "/graph.json?model=half_plus_two")[1])
    assert drawn["boxes"]
    assert client.rest("GET", "/status")[0] == 200
    assert client.rest("GET", "/look.css")[0] == 200


# ---- pictures ------------------------------------------------------------------------------------

GRAPH = {
    "x": Item("Placeholder", "", ()),
    "net/w": Item("VariableV2", "/device:CPU:0", ()),
    "net/w/read": Item("Identity", "", ("net/w",)),
    "net/MatMul": Item("MatMul", "", ("x", "net/w/read")),
    "loss": Item("Sum", "", ("net/MatMul", "loss")),
}


def boxes(opened: tuple[str, ...]) -> dict[str, int]:
    """Box -> its layer."""
    return {box["name"]: box["layer"] for box in picture(GRAPH, opened)["boxes"]}


@pytest.mark.parametrize(
    ("opened", "expected"),
    [
        ((), {"x": 0, "net/": 1, "loss": 2}),
        (("net",), {"x": 0, "net/w/": 0, "net/MatMul": 1, "loss": 2}),
        (
            ("net", "net/w"),
            {"x": 0, "net/w": 0, "net/w/read": 1, "net/MatMul": 2, "loss": 3},
        ),
    ],
)
def test_pictures(opened: tuple[str, ...], expected: dict[str, int]) -> None:
    assert boxes(opened) == expected


def test_edges_are_counted_and_loops_do_no_harm() -> None:
    assert picture(GRAPH)["edges"] == [["x", "net/", 1], ["net/", "loss", 1]]
    ring = {str(i): Item("Add", "", (str((i + 1) % 3000),)) for i in range(3000)}
    drawn = picture(ring)
    assert len(drawn["boxes"]) + drawn["left_out"] == 3000
    assert box_of("a/b/c", ("a",)) == "a/b/"
