from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

import weft as tf
from weft.lib.platform import tf_logging


@pytest.fixture(autouse=True)
def verbosity() -> Iterator[None]:
    before = tf.get_logger().level
    yield
    tf.get_logger().setLevel(before)


def test_warnings_are_shown_by_default(caplog: pytest.LogCaptureFixture) -> None:
    assert tf.logging.get_verbosity() == tf.logging.WARN
    tf.logging.info("quiet")
    tf.logging.warn("loud %d", 1)
    assert caplog.record_tuples == [("tensorflow", logging.WARNING, "loud 1")]


def test_every_level(caplog: pytest.LogCaptureFixture) -> None:
    tf.logging.set_verbosity(tf.logging.DEBUG)
    for name in ("debug", "info", "warning", "error", "fatal"):
        getattr(tf.logging, name)(name)
    tf.logging.log(tf.logging.INFO, "log")
    tf.logging.vlog(tf.logging.ERROR, "vlog")
    tf.logging.log_if(tf.logging.INFO, "not this", False)
    tf.logging.TaskLevelStatusMessage("status")
    found = [(r.levelno, r.getMessage()) for r in caplog.records]
    assert found == [
        (10, "debug"), (20, "info"), (30, "warning"), (40, "error"), (50, "fatal"), (20, "log"),
        (40, "vlog"), (40, "status"),
    ]  # fmt: skip
    tf.logging.flush()


def test_the_origin_is_the_caller(caplog: pytest.LogCaptureFixture) -> None:
    tf.logging.error("here")
    assert caplog.records[0].pathname == __file__
    assert caplog.records[0].funcName == "test_the_origin_is_the_caller"


def test_counted_messages(caplog: pytest.LogCaptureFixture) -> None:
    for i in range(5):
        tf.logging.log_every_n(tf.logging.ERROR, "every %d", 2, i)
        tf.logging.log_first_n(tf.logging.ERROR, "first %d", 2, i)
    said = [r.getMessage() for r in caplog.records]
    assert sorted(said) == ["every 0", "every 2", "every 4", "first 0", "first 1"]


def test_a_configured_program_gets_no_second_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    logger = logging.getLogger("tensorflow")
    before = list(logger.handlers)
    monkeypatch.setattr(tf_logging, "_made", None)
    assert tf.get_logger() is logger  # pytest has put handlers on the root logger
    assert logger.handlers == before
