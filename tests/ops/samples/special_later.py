"""Samples of special_later.py."""

from __future__ import annotations

from tests.ops.sample import Sample, bf16, f16, f32, f64

nan, inf = float("nan"), float("inf")
INSIDE = [-0.9, -0.25, 0.0, 0.5, 0.99]
PART = [0.01, 0.2, 0.5, 0.75, 0.999]
REAL = [-3.5, -0.75, 0.25, 1.0, 6.5]
POSITIVE = [0.1, 0.75, 1.0, 2.5, 9.0]

ARGUMENTS = {
    "Erfinv": INSIDE, "Ndtri": PART, "Dawsn": REAL, "Expint": POSITIVE, "Spence": POSITIVE,
    "FresnelSin": REAL, "FresnelCos": REAL,
    "BesselI0": REAL, "BesselI1": REAL, "BesselJ0": REAL, "BesselJ1": REAL,
    "BesselK0": POSITIVE, "BesselK0e": POSITIVE, "BesselK1": POSITIVE, "BesselK1e": POSITIVE,
    "BesselY0": POSITIVE, "BesselY1": POSITIVE,
}  # fmt: skip
SAMPLES = [
    *(
        Sample(op, make(values), rtol=2e-5 if make is f32 else None)
        for op, values in ARGUMENTS.items()
        for make in (f32, f64)
    ),
    *(
        Sample(op, make(values[-2:]), grad=False)
        for op, values in ARGUMENTS.items()
        for make in (f16, bf16)
    ),
    *(Sample(op, f64([-1.0, 0.0, 1.0, inf, -inf, nan]), grad=False) for op in ARGUMENTS),
    *(Sample(op, f64([0.0])) for op in ("BesselI1", "BesselJ1")),
    Sample("Expint", f64([-0.5, -3.0])),
]
