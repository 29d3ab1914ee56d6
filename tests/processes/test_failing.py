"""A process that ends is an error in the others, soon."""

from __future__ import annotations

import pytest

from tests.processes.group import attempt_group

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize("program", ["one_is_killed", "one_raises"])
def test_others_do_not_wait_for_a_process_that_has_ended(program, tmp_path):
    found = attempt_group(tmp_path, 3, f"tests.processes.failing:{program}")
    for error in found[:2]:
        # By the socket of the process that ended; the first one's end is told by its service.
        assert "Connection closed by peer" in error or "Socket closed" in error
    if program == "one_raises":
        assert "ValueError: this one has a mistake" in found[2]
