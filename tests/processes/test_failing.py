"""A process that ends is an error in the others, soon."""

from __future__ import annotations

import pytest

from tests.processes.group import attempt_group

pytestmark = pytest.mark.timeout(600)


@pytest.mark.parametrize("program", ["one_is_killed", "one_raises"])
def test_others_do_not_wait_for_a_process_that_has_ended(program, tmp_path):
    found = attempt_group(tmp_path, 3, f"tests.processes.failing:{program}")
    for error in found[:2]:
        assert "UnknownError: A process of the group has ended, or cannot be reached" in error
    if program == "one_raises":
        assert "ValueError: this one has a mistake" in found[2]
