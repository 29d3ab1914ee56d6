"""Samples of the optimizers' update ops: dense and sparse, on references and on resources."""

from __future__ import annotations

from tests.ops.sample import DTYPES, Sample, i32, i64, ramp

# Per optimizer: the inputs after the variable, in order of the dense op. "slot" is a slot variable,
# "grad" the gradient, a number a scalar of the variable's type. Then where the sparse op has its
# indices (counted with the variable), and switches to try.
CASES = {
    "GradientDescent": ([0.1, "grad"], None, [{}]),
    "ProximalGradientDescent": ([0.1, 0.05, 0.2, "grad"], 5, [{}]),
    "Momentum": (["slot", 0.1, "grad", 0.9], 4, [{}, {"use_nesterov": True}]),
    "KerasMomentum": (["slot", 0.1, "grad", 0.9], 4, [{}, {"use_nesterov": True}]),
    "Adagrad": (["slot", 0.1, "grad"], 4, [{}, {"update_slots": False}]),
    "AdagradV2": (["slot", 0.1, 1e-3, "grad"], 5, [{}]),
    "AdagradDA": (["slot", "slot", "grad", 0.1, 0.05, 0.2, "step"], 4, [{}]),
    "ProximalAdagrad": (["slot", 0.1, 0.05, 0.2, "grad"], 6, [{}]),
    "Adadelta": (["slot", "slot", 0.5, 0.9, 1e-3, "grad"], 7, [{}]),
    "Adam": (
        ["slot", "slot", 0.81, 0.998, 0.1, 0.9, 0.999, 1e-3, "grad"],
        None,
        [{}, {"use_nesterov": True}],
    ),
    "AdamWithAmsgrad": (
        ["slot", "slot", "slot", 0.81, 0.998, 0.1, 0.9, 0.999, 1e-3, "grad"],
        None,
        [{}],
    ),
    "AdaMax": (["slot", "slot", 0.81, 0.1, 0.9, 0.999, 1e-3, "grad"], None, [{}]),
    "RMSProp": (["slot", "slot", 0.1, 0.9, 0.5, 1e-3, "grad"], 8, [{}]),
    "CenteredRMSProp": (["small", "slot", "slot", 0.1, 0.9, 0.5, 1e-3, "grad"], 9, [{}]),
    "Ftrl": (["slot", "slot", "grad", 0.1, 0.05, 0.2, -0.5], 4, [{}]),
    "FtrlV2": (["slot", "slot", "grad", 0.1, 0.05, 0.2, 0.1, -0.5], 4, [{}]),
    "AddSign": (["slot", 0.1, 1.0, 0.9, 0.8, "grad"], None, [{}]),
    "PowerSign": (["slot", 0.1, 1.0, 0.9, 0.8, "grad"], None, [{}]),
}
RESOURCE_ONLY = {"KerasMomentum", "AdamWithAmsgrad"}
# TensorFlow has kernels of these for 32 and 64 bits alone.
NOT_IN_HALF = {"ProximalGradientDescent", "AdagradDA", "ProximalAdagrad"}


def inputs(given: list, dtype: str, shape: tuple[int, ...], rows: int | None) -> list:
    """Arrays for `given`; the gradient has `rows` rows for a sparse op."""
    found = [ramp(dtype, shape, -1.5, 2.0)]
    slots = iter(([0.3, 1.1], [0.6, 1.9], [0.2, 2.2]))
    for item in given:
        if item == "slot":
            found.append(ramp(dtype, shape, *next(slots)))
        elif item == "small":
            found.append(ramp(dtype, shape, -0.1, 0.1))
        elif item == "grad":
            found.append(ramp(dtype, shape if rows is None else (rows, *shape[1:]), 0.8, -1.0))
        elif item == "step":
            found.append(i64(3))
        else:
            found.append(DTYPES[dtype].type(item))
    return found


def samples(
    name: str, dtype: str, shape: tuple[int, ...], indices: list[int] | None
) -> list[Sample]:
    given, where, switches = CASES[name]
    found = []
    for attrs in switches:
        values = inputs(given, dtype, shape, None if indices is None else len(indices))
        if indices is not None:
            assert where is not None
            values.insert(where, (i64 if dtype == "float64" else i32)(indices))
        form = ("" if indices is None else "Sparse") + "Apply" + name
        found.append(Sample("Resource" + form, *values, **attrs))
        if name not in RESOURCE_ONLY:
            found.append(Sample(form, *values, **attrs))
    return found


SAMPLES = []
for _name, (_given, _where, _) in CASES.items():
    SAMPLES += samples(_name, "float32", (3, 2), None)
    SAMPLES += samples(_name, "float64", (4,), None)
    if _name not in NOT_IN_HALF:
        SAMPLES += samples(_name, "float16", (2, 2), None)
    if _where is not None:
        SAMPLES += samples(_name, "float32", (4, 2), [3, 1])
        SAMPLES += samples(_name, "float64", (5,), [0, 4, 2])
SAMPLES += samples("GradientDescent", "float32", (), None)
SAMPLES += samples("Adam", "float32", (0, 3), None)
# A row named twice takes both steps.
SAMPLES += samples("Momentum", "float32", (3, 2), [2, 0, 2])
SAMPLES += samples("RMSProp", "float64", (3,), [1, 1, 1])
SAMPLES += samples("Momentum", "float32", (3, 2), [])
SAMPLES += [
    Sample(
        f"{form}Ftrl",
        ramp("float32", (3,), -1.5, 2.0),
        ramp("float32", (3,), 0.3, 1.1),
        ramp("float32", (3,), 0.6, 1.9),
        ramp("float32", (3,), 0.8, -1.0),
        *(DTYPES["float32"].type(value) for value in (0.1, 0.05, 0.2, -0.8)),
        note="another power than the square root",
    )
    for form in ("Apply", "ResourceApply")
]
