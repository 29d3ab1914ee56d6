"""tf.contrib.testing: what tests say about summaries and the files they are in."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import Summary

from weft.lib.summary import writer
from weft.storage.events import summary_iterator


class FakeSummaryWriter:
    """Takes the place of `FileWriter`, and keeps what is written for a test to look at."""

    _replaced: Any = None

    @classmethod
    def install(cls) -> None:
        """Has every writer made from now on be one of these."""
        if cls._replaced is not None:
            raise ValueError("FakeSummaryWriter already installed.")
        cls._replaced, writer.FileWriter = writer.FileWriter, cls  # type: ignore[misc, assignment]

    @classmethod
    def uninstall(cls) -> None:
        """Puts the real writer back."""
        if cls._replaced is None:
            raise ValueError("FakeSummaryWriter not installed.")
        writer.FileWriter, cls._replaced = cls._replaced, None  # type: ignore[misc]

    def __init__(self, logdir: Any, graph: Any = None) -> None:
        self._logdir, self._graph = logdir, graph
        self.summaries: dict[Any, list[Any]] = {}
        self._graphs: list[Any] = []
        self._meta_graphs: list[Any] = []
        self._session_logs: list[Any] = []
        self._metadata: dict[str, Any] = {}

    def assert_summaries(
        self,
        test_case: Any,
        expected_logdir: Any = None,
        expected_graph: Any = None,
        expected_summaries: Any = None,
        expected_added_graphs: Any = None,
        expected_added_meta_graphs: Any = None,
        expected_session_logs: Any = None,
    ) -> None:
        """Fails a test case where something else was written than expected."""
        if expected_graph is not None:
            test_case.assertTrue(expected_graph is self._graph)
        for step, expected in (expected_summaries or {}).items():
            missing = f"Missing step {step} from {self.summaries.keys()}."
            test_case.assertTrue(step in self.summaries, msg=missing)
            test_case.assertEqual(expected, self._values(step))
        for expected, found in (
            (expected_logdir, self._logdir),
            (expected_added_graphs, self._graphs),
            (expected_added_meta_graphs, self._meta_graphs),
            (expected_session_logs, self._session_logs),
        ):
            if expected is not None:
                test_case.assertEqual(expected, found)

    def _values(self, step: Any) -> dict[str, float]:
        """The numbers of a step; how often its speed is written depends on the time."""
        values = (value for summary in self.summaries[step] for value in summary.value)
        return {each.tag: each.simple_value for each in values if each.tag != "global_step/sec"}

    def add_summary(self, summ: Any, current_global_step: Any) -> None:
        """Keeps a summary under its step."""
        message = Summary.FromString(summ) if isinstance(summ, bytes) else summ
        self.summaries.setdefault(current_global_step, []).append(message)

    def add_graph(self, graph: Any, global_step: Any = None, graph_def: Any = None) -> None:
        """Keeps a graph."""
        _check_step(global_step)
        if graph_def is not None:
            raise ValueError(f"Unexpected graph_def {graph_def}.")
        self._graphs.append(graph)

    def add_meta_graph(self, meta_graph_def: Any, global_step: Any = None) -> None:
        """Keeps a meta graph."""
        _check_step(global_step)
        self._meta_graphs.append(meta_graph_def)

    def add_session_log(self, session_log: Any, global_step: Any = None) -> None:
        """Keeps a note about a session."""
        self._session_logs.append(session_log)

    def add_run_metadata(self, run_metadata: Any, tag: str, global_step: Any = None) -> None:
        """Keeps what is known of a run."""
        _check_step(global_step)
        self._metadata[tag] = run_metadata

    def flush(self) -> None:
        """Writes nothing: everything is kept."""

    reopen = close = flush


def _check_step(step: Any) -> None:
    if step is not None and step < 0:
        raise ValueError(f"Invalid global_step {step}.")


def assert_summary(
    expected_tags: Iterable[str], expected_simple_values: dict[str, float], summary_proto: Any
) -> None:
    """Raises unless a summary has these tags, and near these values."""
    found = {value.tag: value for value in summary_proto.value}
    for tag in found.keys() & expected_simple_values.keys():
        np.testing.assert_almost_equal(
            found[tag].simple_value, expected_simple_values[tag], decimal=2, err_msg=tag
        )
    if set(expected_tags) != set(found):
        raise ValueError(f"Expected tags {set(expected_tags)}, got {set(found)}.")


def to_summary_proto(summary_str: bytes) -> Any:
    """The message of a serialized summary."""
    return Summary.FromString(summary_str)


def latest_event_file(base_dir: str) -> str | None:
    """The event file of a folder that is last by its name."""
    return max(glob.glob(os.path.join(base_dir, "events.*")), default=None)


def latest_events(base_dir: str) -> Iterable[Any]:
    """The events of the last event file of a folder."""
    path = latest_event_file(base_dir)
    return [] if path is None else summary_iterator(path)


def latest_summaries(base_dir: str) -> list[Any]:
    """The summaries among the last events."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


def simple_values_from_events(events: Iterable[Any], tags: Iterable[str]) -> dict[str, float]:
    """The number that stands under each tag at its highest step."""
    found: dict[str, tuple[int, float]] = {}
    wanted = set(tags)
    for event in events:
        for value in event.summary.value:
            if value.tag not in wanted:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {value.tag} is not a simple_value.")
            if value.tag not in found or event.step > found[value.tag][0]:
                found[value.tag] = (event.step, value.simple_value)
    return {tag: value for tag, (_, value) in found.items()}
