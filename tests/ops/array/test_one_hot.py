"""One-hot codes: large ones of compiled programs are those that NumPy makes; types that clash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.native import computed, needs_native, program_of
from weft.core import flags
from weft.ops.array import one_hot_search

INDICES = [
    np.array([[0, 5, 69], [70, -1, 3]], np.int32),
    np.array([0, 2**32 + 1, -(2**40), 69, 70], np.int64),
    np.array([0, 255, 69, 70], np.uint8),
    np.array(7, np.int32),
]


@pytest.mark.parametrize("indices", INDICES)
@pytest.mark.parametrize("kind", [np.float32, np.int8, bool])
def test_large_codes(indices: np.ndarray, kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    jax.config.update("jax_enable_x64", True)
    monkeypatch.setattr(one_hot_search, "_LARGE", 1)
    on, off = np.array(1, kind), np.array(0, kind)

    def codes(xp: Any, indices: Any) -> Any:
        return one_hot_search._codes(xp, indices, 70, on, off, indices.ndim)

    with flags.NATIVE.override(False):
        lowered = jax.jit(lambda indices: codes(jax.numpy, indices)).lower(indices)
    assert ("scatter" in lowered.as_text()) == (jax.default_backend() == "cpu")
    found, wanted = np.asarray(lowered.compile()(indices)), codes(np, indices)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found, wanted)


@needs_native
@pytest.mark.parametrize("shape", [(1500,), (3, 700), (1025,)])
@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint8])
@pytest.mark.parametrize("values", [(1.0, 0.0), (-0.0, np.nan)])
def test_codes_of_the_kernel(shape: Any, kind: Any, values: tuple[float, float]) -> None:
    indices = np.random.RandomState(0).randint(0, 256, shape).astype(kind)
    if kind != np.uint8:
        indices.flat[:5] = -1, 1100, 1099, np.iinfo(kind).min, np.iinfo(kind).max
    found = computed(lambda x: tf.one_hot(x, 1100, *values), indices)
    wanted = np.where(indices[..., None] == np.arange(1100), *np.float32(values))
    np.testing.assert_array_equal(found.view(np.int32), wanted.view(np.int32))


@needs_native
def test_the_kernel_makes_large_codes_of_floats() -> None:
    def is_called(depth: int, dtype: tf.DType, axis: int = -1) -> bool:
        text = program_of(lambda x: tf.one_hot(x, depth, axis=axis, dtype=dtype), indices)
        return "@weft_one_hot" in text

    indices = np.arange(2000, dtype=np.int32)
    assert is_called(1000, tf.float32)
    assert not is_called(1000, tf.int32) and not is_called(1000, tf.float32, axis=0)
    assert not is_called(100, tf.float32), "they are computed where they are used"


@pytest.mark.parametrize(
    "values", [{"on_value": 1}, {"off_value": 0}, {"on_value": 1, "off_value": 0}]
)
def test_numbers_have_their_own_type_whatever_is_asked_for(values: dict[str, int]) -> None:
    what = next(iter(values))
    with pytest.raises(TypeError, match=f"int32'> of {what} does not match dtype parameter"):
        tf.one_hot([0, 1], 3, dtype=tf.float32, **values)
