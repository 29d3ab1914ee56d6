"""Sums of operators."""

from __future__ import annotations

import numpy as np
import pytest
from weft.python.ops.linalg.linear_operator_addition import add_operators

import weft as tf

DIAGONAL = np.array([1.0, 2.0], np.float32)
LOWER = np.array([[1.0, 0.0], [3.0, 4.0]], np.float32)
FULL = np.array([[1.0, 5.0], [6.0, 2.0]], np.float32)
one = tf.linalg.LinearOperatorIdentity
three = tf.linalg.LinearOperatorScaledIdentity
diagonal = tf.linalg.LinearOperatorDiag
lower = tf.linalg.LinearOperatorLowerTriangular
full = tf.linalg.LinearOperatorFullMatrix
MAKERS = {
    "one": lambda: one(2, name="one"),
    "three": lambda: three(2, 3.0, name="three"),
    "diagonal": lambda: diagonal(DIAGONAL, name="diagonal"),
    "lower": lambda: lower(LOWER, name="lower"),
    "full": lambda: full(FULL, name="full"),
}
# Names are TensorFlow's: each form is tried from the end of what the last one left.
CASES = {
    "one": (one, "one"),
    "one three": (three, "Add/one__three/"),
    "diagonal three": (diagonal, "Add/three__diagonal/"),
    "lower lower": (lower, "Add/lower__lower/"),
    "lower one": (lower, "Add/lower__one/"),
    "full one three": (full, "Add/Add/one__three/__full/"),
    "full lower": (full, "Add/lower__full/"),
}


@pytest.mark.parametrize("case", CASES)
def test_sums(case: str) -> None:
    operators = [MAKERS[name]() for name in case.split()]
    (found,) = add_operators(operators)
    kind, name = CASES[case]
    assert type(found) is kind and found.name == name
    with tf.Session() as session:
        total, parts = session.run([found.to_dense(), [each.to_dense() for each in operators]])
    np.testing.assert_allclose(total, sum(parts))


def test_sums_of_positive_definite_operators_are_so() -> None:
    (found,) = add_operators([three(2, 3.0, is_positive_definite=True), one(2)])
    assert found.is_positive_definite and found.is_non_singular and found.is_self_adjoint


def test_operators_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match="must contain at least one operator"):
        add_operators([])
    with pytest.raises(TypeError, match="must contain only LinearOperator instances"):
        add_operators([FULL])
    with pytest.raises(ValueError, match="must have the same domain dimension"):
        add_operators([one(2), one(3)])
