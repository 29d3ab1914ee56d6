"""Summaries in a database of TensorBoard's schema (SQLite): users, experiments, runs, tags, values.

It is written event by event, in the place of an event file.
"""

from __future__ import annotations

import secrets
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from weft.core import dtypes, errors

_APPLICATION = 0xFEEDABEE - 2**32  # as SQLite keeps it, signed
_ID_TIERS = (0x7FFFFF, 0x7FFFFFFF, 0x7FFFFFFFFFFF)
_KEY = "rowid INTEGER PRIMARY KEY"
_TABLES = {
    "Ids": "id INTEGER PRIMARY KEY",
    "Descriptions": "id INTEGER PRIMARY KEY, description TEXT",
    "Tensors": f"{_KEY}, series INTEGER, step INTEGER, dtype INTEGER, computed_time REAL, "
    "shape TEXT, data BLOB",
    "TensorStrings": f"{_KEY}, tensor_rowid INTEGER NOT NULL, idx INTEGER NOT NULL, data BLOB",
    "Tags": f"{_KEY}, run_id INTEGER, tag_id INTEGER NOT NULL, inserted_time DOUBLE, "
    "tag_name TEXT, display_name TEXT, plugin_name TEXT, plugin_data BLOB",
    "Runs": f"{_KEY}, experiment_id INTEGER, run_id INTEGER NOT NULL, inserted_time REAL, "
    "started_time REAL, finished_time REAL, run_name TEXT",
    "Experiments": f"{_KEY}, user_id INTEGER, experiment_id INTEGER NOT NULL, "
    "inserted_time REAL, started_time REAL, is_watching INTEGER, experiment_name TEXT",
    "Users": f"{_KEY}, user_id INTEGER NOT NULL, inserted_time REAL, user_name TEXT, email TEXT",
    "Graphs": f"{_KEY}, run_id INTEGER, graph_id INTEGER NOT NULL, inserted_time REAL, "
    "graph_def BLOB",
    "Nodes": f"{_KEY}, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, node_name TEXT, "
    "op TEXT, device TEXT, node_def BLOB",
    "NodeInputs": f"{_KEY}, graph_id INTEGER NOT NULL, node_id INTEGER NOT NULL, "
    "idx INTEGER NOT NULL, input_node_id INTEGER NOT NULL, input_node_idx INTEGER, "
    "is_control INTEGER",
}
# name -> (table, columns, columns that may be missing)
_INDICES = {
    "TensorSeriesStepIndex": ("Tensors", "series, step", ("series", "step")),
    "TensorStringIndex": ("TensorStrings", "tensor_rowid, idx", ()),
    "TagIdIndex": ("Tags", "tag_id", ()),
    "TagRunNameIndex": ("Tags", "run_id, tag_name", ("run_id", "tag_name")),
    "RunIdIndex": ("Runs", "run_id", ()),
    "RunNameIndex": ("Runs", "experiment_id, run_name", ("run_name",)),
    "ExperimentIdIndex": ("Experiments", "experiment_id", ()),
    "ExperimentNameIndex": ("Experiments", "user_id, experiment_name", ("experiment_name",)),
    "UserIdIndex": ("Users", "user_id", ()),
    "UserNameIndex": ("Users", "user_name", ("user_name",)),
    "UserEmailIndex": ("Users", "email", ("email",)),
    "GraphIdIndex": ("Graphs", "graph_id", ()),
    "GraphRunIndex": ("Graphs", "run_id", ("run_id",)),
    "NodeIdIndex": ("Nodes", "graph_id, node_id", ()),
    "NodeNameIndex": ("Nodes", "graph_id, node_name", ("node_name",)),
    "NodeInputsIndex": ("NodeInputs", "graph_id, node_id, idx", ()),
}


def set_up(connection: sqlite3.Connection) -> None:
    """Makes the tables that are not there."""
    connection.execute(f"PRAGMA application_id={_APPLICATION}")
    connection.execute("PRAGMA user_version=0")
    for name, columns in _TABLES.items():
        connection.execute(f"CREATE TABLE IF NOT EXISTS {name} ({columns})")
    for name, (table, columns, missing) in _INDICES.items():
        only = " AND ".join(f"{column} IS NOT NULL" for column in missing)
        where = f" WHERE {only}" if only else ""
        connection.execute(
            f"CREATE UNIQUE INDEX IF NOT EXISTS {name} ON {table} ({columns}){where}"
        )


def _histogram(value: Any) -> np.ndarray:
    """Rows of (left edge, right edge, count)."""
    rights = list(value.histo.bucket_limit)
    if len(rights) != len(value.histo.bucket):
        raise errors.InvalidArgumentError(None, None, "size mismatch")
    lefts = [sys.float_info.min, *rights[:-1]] if rights else []
    return np.array([lefts, rights, list(value.histo.bucket)], np.float64).T.reshape(-1, 3)


def _image(value: Any) -> np.ndarray:
    image = value.image
    sizes = [str(size).encode() for size in (image.width, image.height)]
    return np.array([*sizes, image.encoded_image_string], object)


def _audio(value: Any) -> np.ndarray:
    return np.array([[value.audio.encoded_audio_string, b""]], object)


# kind of a summary -> (plugin, the tensor that is kept)
_KINDS: dict[str, tuple[str, Callable[[Any], np.ndarray]]] = {
    "simple_value": ("scalars", lambda value: np.array(value.simple_value, np.float32)),
    "histo": ("histograms", _histogram),
    "image": ("images", _image),
    "audio": ("audio", _audio),
}


class SummaryDatabase:
    """A writer of events into a database, under a user, an experiment and a run."""

    def __init__(self, uri: str, experiment: str, run: str, user: str) -> None:
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(
                uri, uri=uri.startswith("file:"), check_same_thread=False
            )
            with self._connection:
                set_up(self._connection)
        except sqlite3.Error as error:
            message = f"Could not open SQLite DB {uri}: {error}"
            raise errors.InvalidArgumentError(None, None, message) from error
        self._names = {"experiment": experiment, "run": run, "user": user}
        self._ids: dict[str, int] = {}
        self._tags: dict[str, int] = {}
        self._begun: dict[str, float] = {}

    # ---- the interface of an event file ----

    def add_event(self, event: Any) -> None:
        """Keeps the summaries or the graph of an event."""
        with self._lock, self._connection:
            self._begin(event.wall_time)
            if event.WhichOneof("what") == "graph_def":
                self._add_graph(event.graph_def)
            for value in event.summary.value:
                self._add_value(event, value)

    def flush(self) -> None:
        """Nothing waits to be written."""

    def close(self) -> None:
        """Notes the end of the run."""
        with self._lock:
            if "run" in self._ids:
                with self._connection:
                    self._connection.execute(
                        "UPDATE Runs SET finished_time = ? WHERE run_id = ?",
                        (time.time(), self._ids["run"]),
                    )
            self._connection.close()

    # ---- rows ----

    def _insert(self, table: str, **values: Any) -> int:
        names, marks = ", ".join(values), ", ".join("?" * len(values))
        done = self._connection.execute(
            f"INSERT OR REPLACE INTO {table} ({names}) VALUES ({marks})", tuple(values.values())
        )
        return int(done.lastrowid or 0)

    def _new_id(self) -> int:
        """A number that no other row has, of few bytes while those last."""
        for tier in (*_ID_TIERS, *[_ID_TIERS[-1]] * 18):
            found = (secrets.randbits(63) & tier) or 1
            try:
                self._connection.execute("INSERT INTO Ids (id) VALUES (?)", (found,))
            except sqlite3.IntegrityError:
                continue
            return found
        raise errors.ResourceExhaustedError(None, None, "No free id in the table Ids.")

    def _begin(self, wall_time: float) -> None:
        """Rows of the user, the experiment and the run, before the first summary."""
        if not self._names["run"]:
            return
        if self._names["experiment"]:
            if self._names["user"]:
                self._find_or_add("user", "Users", {}, {})
            owner = {"user_id": self._ids.get("user")}
            times = {"started_time": wall_time, "is_watching": 0}
            self._find_or_add("experiment", "Experiments", owner, times)
            self._started("experiment", "Experiments", wall_time)
        if "run" not in self._ids:
            self._ids["run"] = self._new_id()
            self._insert(
                "Runs", experiment_id=self._ids.get("experiment"), run_id=self._ids["run"],
                run_name=self._names["run"], inserted_time=time.time(), started_time=wall_time,
            )  # fmt: skip
        self._started("run", "Runs", wall_time)

    def _find_or_add(self, kind: str, table: str, owner: Any, values: Any) -> None:
        if kind in self._ids:
            return
        name = self._names[kind]
        where = "".join(f" AND {column} IS ?" for column in owner)
        found = self._connection.execute(
            f"SELECT {kind}_id FROM {table} WHERE {kind}_name = ?{where}", (name, *owner.values())
        ).fetchone()
        if found is None:
            found = (self._new_id(),)
            named = {f"{kind}_id": found[0], f"{kind}_name": name, "inserted_time": time.time()}
            self._insert(table, **owner, **named, **values)
        self._ids[kind] = found[0]

    def _started(self, kind: str, table: str, wall_time: float) -> None:
        """An event from before the start moves it."""
        if wall_time < self._begun.setdefault(kind, wall_time):
            self._begun[kind] = wall_time
            self._connection.execute(
                f"UPDATE {table} SET started_time = ? WHERE {kind}_id = ?",
                (wall_time, self._ids[kind]),
            )

    def _tag(self, value: Any, plugin: str) -> int:
        if value.tag not in self._tags:
            tag_id = self._tags[value.tag] = self._new_id()
            metadata = value.metadata
            self._insert("Descriptions", id=tag_id, description=metadata.summary_description)
            self._insert(
                "Tags", run_id=self._ids.get("run"), tag_id=tag_id, tag_name=value.tag,
                inserted_time=time.time(), display_name=metadata.display_name,
                plugin_name=metadata.plugin_data.plugin_name or plugin,
                plugin_data=metadata.plugin_data.content,
            )  # fmt: skip
        return self._tags[value.tag]

    def _add_value(self, event: Any, value: Any) -> None:
        kind = value.WhichOneof("value")
        if kind == "tensor":
            from tensorboard.util import tensor_util

            plugin, tensor = "", np.asarray(tensor_util.make_ndarray(value.tensor))
        elif kind in _KINDS:
            plugin, read = _KINDS[kind]
            tensor = read(value)
        else:
            return
        is_text = tensor.dtype.kind in "OSU"
        dtype = dtypes.string if is_text else dtypes.as_dtype(tensor.dtype)
        apart = is_text and tensor.ndim > 0
        row = self._insert(
            "Tensors", series=self._tag(value, plugin), step=event.step,
            dtype=dtype.as_datatype_enum, computed_time=event.wall_time,
            shape=",".join(map(str, tensor.shape)),
            data=b"" if apart else tensor.item() if is_text else tensor.tobytes(),
        )  # fmt: skip
        for index, text in enumerate(tensor.reshape(-1) if apart else ()):
            self._insert("TensorStrings", tensor_rowid=row, idx=index, data=text)

    def _add_graph(self, serialized: bytes) -> None:
        from tensorboard.compat.proto.graph_pb2 import GraphDef

        graph, graph_id = GraphDef.FromString(serialized), self._new_id()
        places = {node.name: number for number, node in enumerate(graph.node)}
        for number, node in enumerate(graph.node):
            for index, text in enumerate(node.input):
                name, _, output = text.removeprefix("^").partition(":")
                if name not in places:
                    raise errors.DataLossError(None, None, f"Could not find node: {name}")
                self._insert(
                    "NodeInputs", graph_id=graph_id, node_id=number, idx=index,
                    input_node_id=places[name], input_node_idx=int(output or 0),
                    is_control=int(text.startswith("^")),
                )  # fmt: skip
            named = {"node_name": node.name, "op": node.op, "device": node.device}
            for field in ("name", "op", "device", "input"):
                node.ClearField(field)
            content = node.SerializeToString()
            self._insert("Nodes", graph_id=graph_id, node_id=number, **named, node_def=content)
        graph.ClearField("node")
        self._insert(
            "Graphs", run_id=self._ids.get("run"), graph_id=graph_id, inserted_time=time.time(),
            graph_def=graph.SerializeToString(),
        )  # fmt: skip
