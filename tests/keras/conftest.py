"""What every test of Keras gets: its own session, gone afterwards, and the default settings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from weft.lib.keras import backend as K


@pytest.fixture(autouse=True)
def fresh_keras() -> Iterator[None]:
    K.clear_session()
    # Orders of batches, and seeds that nobody gave, come from there.
    np.random.seed(0)
    yield
    K.set_floatx("float32")
    K.set_epsilon(1e-7)
    K.set_image_data_format("channels_last")
    K.manual_variable_initialization(False)
    K.clear_session()
