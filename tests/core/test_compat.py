import pathlib

import numpy as np
import pytest

from weft.core import compat


def test_bytes_and_text():
    assert compat.as_bytes("é") == compat.as_bytes("é".encode()) == b"\xc3\xa9"
    assert compat.as_bytes(bytearray(b"ab")) == b"ab" and compat.as_bytes("é", "latin-1") == b"\xe9"
    assert compat.as_text(b"\xc3\xa9") == compat.as_text("é") == compat.as_str(b"\xc3\xa9") == "é"
    assert compat.as_str_any(b"ab") == "ab" and compat.as_str_any(12) == "12"
    for convert in (compat.as_bytes, compat.as_text, compat.as_str):
        with pytest.raises(TypeError, match="Expected binary or unicode string, got 3"):
            convert(3)


def test_paths():
    assert compat.path_to_str(pathlib.PurePosixPath("a/b")) == "a/b"
    assert compat.path_to_str("./a") == "./a" and compat.path_to_str(3) == 3


def test_number_types():
    assert isinstance(np.int32(1), compat.integral_types)
    assert not isinstance(np.float32(1), compat.integral_types)
    assert isinstance(np.float32(1), compat.real_types)
    assert isinstance(1j, compat.complex_types) and isinstance(b"", compat.bytes_or_text_types)
