"""Inside `quiet`, NumPy is silent; outside it is as before."""

from __future__ import annotations

import numpy as np
import pytest

from weft.core import quiet


@pytest.mark.parametrize("public", [False, True])
def test_numpy_is_silent_inside_only(public: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if public:
        monkeypatch.setattr(quiet, "silence", quiet._silence)
        monkeypatch.setattr(quiet, "restore", quiet._restore)
    with np.errstate(all="raise"):
        with quiet.quiet(), quiet.quiet():
            assert np.isnan(np.log(np.float32(-1)))
        with pytest.raises(FloatingPointError):
            np.log(np.float32(-1))


def test_it_ends_with_an_error() -> None:
    before = np.geterr()
    with pytest.raises(KeyError), quiet.quiet():
        raise KeyError
    assert np.geterr() == before
