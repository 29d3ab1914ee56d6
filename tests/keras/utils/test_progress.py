"""The bar in the terminal."""

from __future__ import annotations

import re

import pytest

from weft.lib.keras.utils.progress import Progbar


def test_a_bar_fills(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Progbar(4, width=8, interval=0)
    bar.update(2, [("loss", 1.0)])
    bar.add(2, [("loss", 3.0)])
    first, second = re.split("\b*\r", capsys.readouterr().out)[1:]
    assert re.match(r"2/4 \[===>\.\.\.\.\] - ETA: \d+s - loss: 1\.0000$", first)
    assert re.match(r"4/4 \[========\] - \d+s \d+[um]?s/step - loss: 2\.0000\s*\n$", second)


def test_values_that_are_averages_are_shown_as_they_are(capsys: pytest.CaptureFixture) -> None:
    bar = Progbar(10, verbose=2, stateful_metrics=["acc"])
    bar.update(5, [("acc", 0.5), ("loss", 1e-5)])
    assert capsys.readouterr().out == ""
    bar.update(10, [("acc", 0.75), ("loss", 3e-5)])
    out = capsys.readouterr().out
    assert re.fullmatch(r"10/10 - \d+s - acc: 0\.7500 - loss: 2\.0000e-05\n", out)


def test_how_negative_means_are_written(capsys: pytest.CaptureFixture[str]) -> None:
    Progbar(2, verbose=1, interval=0).update(2, [("loss", -0.5)])
    assert capsys.readouterr().out.rstrip().endswith("loss: -0.5000")
    # With one line for each epoch they have an exponent, however large they are.
    Progbar(2, verbose=2).update(2, [("loss", -0.5), ("gain", 0.5)])
    assert capsys.readouterr().out.endswith("loss: -5.0000e-01 - gain: 0.5000\n")


def test_nobody_knows_how_far_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Progbar(None, unit_name="sample")
    bar.update(7)
    assert re.search(r"      7/Unknown - \d+s \d+[um]?s/sample", capsys.readouterr().out)


def test_often_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Progbar(1000, interval=60)
    for i in range(1, 1000):
        bar.update(i)
    assert capsys.readouterr().out.count("\r") == 1
    Progbar(5, verbose=0).update(5)
    assert capsys.readouterr().out == ""
