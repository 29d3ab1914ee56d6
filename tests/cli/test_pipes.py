"""Commands whose output nobody reads to its end: `weft saved-model show m | head`."""

import os
import subprocess
import sys

import pytest

from tests.saved_model.models import DATA


@pytest.mark.parametrize(
    "arguments", [["saved-model", "show", str(DATA / "simple"), "--all"], ["--version"]]
)
def test_a_reader_that_left_is_no_error(arguments):
    readable, writable = os.pipe()
    os.close(readable)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "weft", *arguments],
            stdout=writable, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
    finally:
        os.close(writable)
    assert (done.stderr, done.returncode) == ("", 141)
