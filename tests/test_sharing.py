"""How processes share the tests."""

from __future__ import annotations

import pytest

from tests import sharing


def scope(test: str) -> str:
    return sharing.FileByFile.__new__(sharing.FileByFile)._split_scope(test)


def test_a_file_stays_together() -> None:
    tests = ("test_a", "test_b[x::y]", "TestC::test_d[[1]]")
    assert {scope(f"tests/core/test_e.py::{test}") for test in tests} == {"tests/core/test_e.py"}


@pytest.mark.parametrize("op", ["MatMul", "Conv2D", "Cast"])
def test_what_is_compiled_together_stays_together(op: str) -> None:
    tests = (f"test_on_numpy[{op}]", f"test_compiled[{op}]", f"test_gradient[{op}]")
    (found,) = {scope(f"tests/ops/test_samples.py::{test}") for test in tests}
    assert found == f"tests/ops/test_samples.py {sharing.part_of(op)}"


def test_a_long_file_is_shared() -> None:
    assert len({sharing.part_of(f"Op{i}") for i in range(2000)}) == sharing.PARTS
