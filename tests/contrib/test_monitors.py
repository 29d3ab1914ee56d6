"""tf.contrib.learn.monitors.ValidationMonitor."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import weft as tf
from weft.lib.contrib.learn import monitors


class Estimator:
    """Gives one loss after the other."""

    model_dir = ""

    def __init__(self, *losses: float) -> None:
        self._losses = iter(losses)

    def evaluate(self, **options: Any) -> dict[str, float]:
        return {"loss": next(self._losses)}


@pytest.fixture(autouse=True)
def new_checkpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a new checkpoint at every look."""
    numbers = itertools.count()
    monkeypatch.setattr(monitors, "latest_checkpoint", lambda folder: f"model-{next(numbers)}")


def monitor(*losses: float, **options: Any) -> Any:
    made = tf.contrib.learn.monitors.ValidationMonitor(input_fn=lambda: None, **options)
    made.set_estimator(Estimator(*losses))
    return made


def test_it_stops_when_the_metric_is_no_better_for_a_while() -> None:
    made = monitor(3.0, 2.0, 2.5, early_stopping_rounds=10)
    assert [made._validate(step) for step in (1, 5, 15)] == [False, False, True]
    assert made.best_step == 5 and made.best_value == 2.0


def test_without_rounds_no_metric_is_asked_for() -> None:
    made = monitor(3.0, early_stopping_metric=None)
    assert not made._validate(1) and made.best_value is None


def test_a_metric_that_is_not_there() -> None:
    made = monitor(3.0, early_stopping_metric="recall", early_stopping_rounds=1)
    with pytest.raises(ValueError, match=r"Metric recall missing from outputs {'loss'}"):
        made._validate(1)
