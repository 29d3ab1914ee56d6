"""Reading Predict requests: a beginning that is known changes nothing of what is read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.serve.serving import predict_request
from weft.cluster.transport.wire import as_field
from weft.serve.models import Spec
from weft.serve.predict_requests import Heading, Headings


def _request(*arrays: Any, wanted: str = "", **spec: Any) -> bytes:
    request = predict_request("m", **{f"x{i}": array for i, array in enumerate(arrays)})
    for name, value in spec.items():
        setattr(request.model_spec, name, value)
    request.output_filter.extend([wanted] if wanted else [])
    data: bytes = request.SerializeToString(deterministic=True)
    return data


def _tensor(*fields: tuple[int, bytes]) -> bytes:
    """A float tensor [2] of these fields, in a request for the model `m`."""
    tensor = b"\x08\x01" + as_field(2, as_field(2, b"\x08\x02"))
    tensor += b"".join(as_field(number, data) for number, data in fields)
    entry = as_field(1, b"x0") + as_field(2, tensor)
    return as_field(1, as_field(1, b"m")) + as_field(2, entry)


_ONE, _TWO = (np.array(values, np.float32) for values in ([1.0, 2.0], [3.0, 4.0]))
_EIGHT, _OTHER = _ONE.tobytes(), _TWO.tobytes()
_AFTER = 1000  # a field that nothing knows

CASES = {  # a request, the same for other numbers, and whether that has a known beginning
    "content": (_tensor((4, _EIGHT)), _tensor((4, _OTHER)), True),
    "float_val": (_tensor((5, _EIGHT)), _tensor((5, _OTHER)), True),
    "one number": (_request(np.float32(1)), _request(np.float32(7)), True),
    "a matrix": (_request(np.ones((2, 3))), _request(np.zeros((2, 3))), True),
    "integers": (_request(np.arange(3)), _request(np.arange(3) + 9), True),
    "a signature": (
        _request(_ONE, signature_name="s"), _request(_TWO, signature_name="s"), True
    ),
    "another model": (_request(_ONE, name="one"), _request(_TWO, name="two"), False),
    "another shape": (_request(_ONE), _request(_TWO[None]), False),
    "another type": (_request(np.ones(2, np.float32)), _request(np.ones(1)), False),
    "wanted outputs": (_request(_ONE, wanted="y"), _request(_TWO, wanted="y"), False),
    "two inputs": (_request(_ONE, _ONE), _request(_ONE, _TWO), False),
    "no input": (_request(), _request(), False),
    "no numbers": (_request(np.ones(0)), _request(np.ones(0)), False),
    "strings": (_request([b"a"]), _request([b"b"]), False),
    "varints": (_tensor((7, b"\x01\x02")), _tensor((7, b"\x03\x04")), False),
    "the same after the numbers": (
        _tensor((4, _EIGHT), (_AFTER, _EIGHT)), _tensor((4, _EIGHT), (_AFTER, _OTHER)), False
    ),
    "half of it after the numbers": (
        _tensor((4, _EIGHT), (_AFTER, _EIGHT[4:])), _tensor((4, _OTHER), (_AFTER, _EIGHT[4:])),
        False,
    ),
}  # fmt: skip


def _read(headings: Headings, data: bytes) -> tuple[Any, ...]:
    request = headings.read(data)
    inputs = {
        alias: (array.dtype, array.shape, array.tolist())
        for alias, array in request.inputs(data).items()
    }
    return request.spec, request.wanted, inputs


@pytest.mark.parametrize("case", CASES)
def test_a_known_beginning_says_what_the_message_does(case: str) -> None:
    first, second, is_known = CASES[case]
    headings = Headings()
    assert _read(headings, first) == _read(Headings(), first) == _read(headings, first)
    assert isinstance(headings.read(second), Heading) == is_known
    assert _read(headings, second) == _read(Headings(), second)


def test_only_so_many_beginnings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weft.serve.predict_requests._MOST_KEPT", 2)
    headings = Headings()
    for count in (1, 2, 3):
        assert _read(headings, _request(np.ones(count)))[0] == Spec("m")
    kept = [isinstance(headings.read(_request(np.ones(n))), Heading) for n in (1, 2, 3)]
    assert kept == [False, False, True]


def test_numbers_lie_at_addresses_that_suit_them() -> None:
    headings = Headings()
    for name in ("m", "mm", "mmm", "mmmm"):
        data = _request(np.ones(3), name=name)
        headings.read(data).inputs(data)
        request = headings.read(data)
        assert isinstance(request, Heading)
        assert request.inputs(data)["x0"].flags.aligned
