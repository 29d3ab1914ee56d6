"""Values, gradients and variables of models of columns, against those of TensorFlow."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.feature_column.column_programs import DATA, programs, run

RECORDED = np.load(DATA)


@pytest.mark.parametrize(("kind", "name"), programs())
def test_as_in_tensorflow(kind: str, name: str) -> None:
    found = run(tf, kind, name)
    prefix = f"{kind}/{name}/"
    wanted = {key.removeprefix(prefix): RECORDED[key] for key in RECORDED if key.startswith(prefix)}
    assert sorted(found) == sorted(wanted)
    for key, value in wanted.items():
        if value.dtype.kind == "U":
            assert found[key].tolist() == value.tolist(), key
        else:
            np.testing.assert_allclose(found[key], value, rtol=1e-5, atol=1e-6, err_msg=key)
