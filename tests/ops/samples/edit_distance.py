"""Samples of weft/ops/strings/edit_distance.py."""

from tests.ops.sample import Sample, i32, i64, s

# Sequences [a b], [c], [] against [a], [c d e], [f].
GUESS = (i64([[0, 0], [0, 1], [1, 0]]), s(["a", "b", "c"]), i64([3, 2]))
TRUTH = (i64([[0, 0], [1, 0], [1, 1], [1, 2], [2, 0]]), s(["a", "c", "d", "e", "f"]), i64([3, 3]))

SAMPLES = [
    Sample("EditDistance", *GUESS, *TRUTH),
    Sample("EditDistance", *GUESS, *TRUTH, normalize=False),
    Sample("EditDistance", *TRUTH, *GUESS, note="a guess without a truth"),
    Sample(
        "EditDistance",
        *(i64([[0, 0, 0], [0, 0, 1], [1, 1, 0]]), i32([1, 2, 3]), i64([2, 2, 2])),
        *(i64([[0, 0, 0], [1, 1, 0], [1, 1, 1]]), i32([2, 3, 4]), i64([2, 2, 2])),
    ),
    Sample("EditDistance", *GUESS, i64([[0]]), s(["a"]), i64([1])),
]
