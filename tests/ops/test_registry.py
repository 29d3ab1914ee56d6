"""Every registered op is declared as TensorFlow declares it, and is tested or says why not."""

from __future__ import annotations

import pytest

import weft  # noqa: F401  (registers every op)
from tests.golden import signatures
from tests.ops.sample import all_samples, all_skips
from weft.graph.op_def import REGISTRY

# What TensorFlow 1.15 registers takes more types than its table, which was not brought up to date.
# What later versions added with a default, so that their graphs can be read.
AHEAD_OF_THE_TABLE = {"Abs", "Equal", "NotEqual", "TensorListSetItem"} | {
    f"SparseSegment{kind}{form}"
    for kind in ("Mean", "SqrtN", "Sum")
    for form in ("", "Grad", "WithNumSegments")
}
# Said to be stateful, and takes a reference, from which the same follows.
SAID_TWICE = {"NegTrain"}


def test_signatures_are_golden() -> None:
    golden = signatures.GOLDEN.read_text().splitlines()
    ours = list(signatures.registered().values())
    changed = sorted(set(ours) ^ set(golden))
    assert not changed, "op signatures changed (`make golden` rewrites):\n" + "\n".join(changed)


def test_signatures_are_tensorflows() -> None:
    table = signatures.table()
    if table is None:
        pytest.skip("TensorFlow's op table is not beside the checkout; the golden file stands in")
    wrong = []
    for name, ours in signatures.registered().items():
        if name in table and ours != table[name] and name not in AHEAD_OF_THE_TABLE | SAID_TWICE:
            wrong += [name, *signatures.difference(ours, table[name])]
    assert not wrong, "\n".join(wrong)


def test_every_op_has_a_sample_or_a_reason() -> None:
    sampled, skipped = {sample.op for sample in all_samples()}, all_skips()
    bare = sorted(set(REGISTRY) - sampled - set(skipped))
    assert not bare, f"no sample and no skip(op, reason): {', '.join(bare)}"


def test_samples_are_of_registered_ops() -> None:
    unknown = {sample.op for sample in all_samples()} | set(all_skips())
    assert not sorted(unknown - set(REGISTRY)), "samples or skips of ops that are not registered"
    assert all(reason.strip() for reason in all_skips().values())
