"""Ten steps of every optimizer, compared with what TensorFlow's variables and slots hold."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from tests.train.optimizer_programs import DATA, OPTIMIZERS, run


@pytest.fixture(scope="module")
def recorded():
    with np.load(DATA) as data:
        yield dict(data)


@pytest.mark.parametrize("kind", ["reference", "resource"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_ten_steps(name, kind, recorded):
    prefix = f"{name}/{kind}/"
    wanted = {k.removeprefix(prefix): v for k, v in recorded.items() if k.startswith(prefix)}
    found = run(tf, name, kind == "resource")
    assert sorted(found) == sorted(wanted)
    for key, value in wanted.items():
        assert found[key].dtype == value.dtype
        np.testing.assert_allclose(found[key], value, rtol=1e-4, atol=1e-5, err_msg=key)
