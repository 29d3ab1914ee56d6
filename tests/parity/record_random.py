"""Records what TensorFlow's random ops draw: three runs of each case in one session.

    .venv-tf/bin/python -m tests.parity.record_random

One thread only: Multinomial and ParameterizedTruncatedNormal give every thread a part of the stream
of its own, so that what they draw for large outputs depends on the machine.
"""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[1] / "ops" / "data"
RUNS = 3


@dataclass(frozen=True)
class Case:
    """One random op. Of outputs with over `limit` elements, a sample and a checksum are kept."""

    name: str
    op: str
    inputs: dict[str, np.ndarray]
    attrs: dict[str, Any] = field(default_factory=dict)
    limit: int = 2000
    producer: int = 0  # the GraphDef version in which a removed op can still be asked for


def kept(runs: list[list[np.ndarray]], limit: int) -> dict[str, np.ndarray]:
    """What the record of a case's runs holds, per output; 16-bit floats as their bits."""
    record = {}
    for i, arrays in enumerate(map(np.stack, zip(*runs, strict=True))):
        if arrays.dtype.itemsize == 2:
            arrays = arrays.view(np.uint16)
        if arrays[0].size > limit:
            record[f"{i}.crc"] = np.array([zlib.crc32(a.tobytes()) for a in arrays], np.uint32)
            arrays = arrays.reshape(len(arrays), -1)[:, :: arrays[0].size // 97]
        record[str(i)] = arrays
    return record


def _shape(*dims: int, dtype: Any = np.int32) -> np.ndarray:
    return np.array(dims, dtype)


def _seeds(seed: int, seed2: int) -> dict[str, int]:
    return {"seed": seed, "seed2": seed2}


def _float_cases() -> list[Case]:
    cases = []
    for op in ("RandomUniform", "RandomStandardNormal", "TruncatedNormal"):
        for dtype in ("float32", "float64", "float16", "bfloat16"):
            attrs = {"dtype": dtype, **_seeds(87654321, 7)}
            cases.append(Case(f"{op}_{dtype}", op, {"shape": _shape(7, 3, 5)}, attrs))
        for seed, seed2 in ((0, 5), (1234, 0), (-3, 2**40 + 11), (2**63 - 1, -(2**63))):
            attrs = {"dtype": "float32", **_seeds(seed, seed2)}
            name = f"{op}_seeds_{seed}_{seed2}"
            cases.append(Case(name, op, {"shape": _shape(13, dtype=np.int64)}, attrs))
        for name, shape in (("scalar", ()), ("empty", (3, 0)), ("large", (300, 1111))):
            attrs = {"dtype": "float32", **_seeds(3, 4)}
            cases.append(Case(f"{op}_{name}", op, {"shape": _shape(*shape)}, attrs))
    return cases


def _int_cases() -> list[Case]:
    cases = []
    bounds = {
        "int32": [(0, 10), (-5, 6), (-(2**31), 2**31 - 1), (7, 8)],
        "int64": [(0, 10), (-5, 6), (-(2**63), 2**63 - 1), (0, 2**40 + 1)],
    }
    for dtype, pairs in bounds.items():
        for low, high in pairs:
            inputs = {
                "shape": _shape(5, 7),
                "minval": np.array(low, dtype),
                "maxval": np.array(high, dtype),
            }
            name = f"RandomUniformInt_{dtype}_{low}_{high}"
            cases.append(Case(name, "RandomUniformInt", inputs, _seeds(87654321, 99)))
    return cases


def _stateless_cases() -> list[Case]:
    cases = []
    for dtype in ("float32", "float64", "float16", "bfloat16"):
        for op in ("StatelessRandomUniform", "StatelessRandomNormal", "StatelessTruncatedNormal"):
            for seed in (np.array([1, 2], np.int32), np.array([-7, 2**40], np.int64)):
                inputs = {"shape": _shape(6, 5), "seed": seed}
                name = f"{op}_{dtype}_{seed.dtype.name}"
                cases.append(Case(name, op, inputs, {"dtype": dtype}))
    for dtype in ("int32", "int64"):
        inputs = {
            "shape": _shape(31),
            "seed": np.array([3, -4], np.int32),
            "minval": np.array(-9, dtype),
            "maxval": np.array(1000, dtype),
        }
        op = "StatelessRandomUniformInt"
        cases.append(Case(f"{op}_{dtype}", op, inputs))
    inputs = {
        "logits": np.log(np.array([[1, 2, 3, 4], [4, 1, 1, 1]], np.float32)),
        "num_samples": np.array(9, np.int32),
        "seed": np.array([5, 6], np.int64),
    }
    cases.append(Case("StatelessMultinomial", "StatelessMultinomial", inputs))
    return cases


def _parameterized_cases() -> list[Case]:
    cases = []

    def bounds(name: str, shape: tuple[int, ...], dtype: str, *values: Any) -> None:
        inputs = {"shape": _shape(*shape)}
        for key, value in zip(("means", "stdevs", "minvals", "maxvals"), values, strict=True):
            inputs[key] = np.array(value, dtype)
        op = "ParameterizedTruncatedNormal"
        cases.append(Case(f"{op}_{name}", op, inputs, _seeds(87654321, 21)))

    inf = np.inf
    for dtype in ("float32", "float64", "float16"):
        bounds(f"usual_{dtype}", (5, 43), dtype, 1.0, 2.0, -3.0, 5.0)
        bounds(f"narrow_{dtype}", (41,), dtype, 0.0, 1.0, 0.5, 0.75)
        bounds(f"tail_{dtype}", (41,), dtype, 0.0, 1.0, 3.0, inf)
        bounds(f"left_tail_{dtype}", (41,), dtype, 0.0, 1.0, -inf, -4.0)
        rows = ([0.0, 1.0, 2.0], [1.0, 0.5, 3.0], [-1.0, 2.0, -inf], [0.5, 2.5, 9.0])
        bounds(f"rows_{dtype}", (3, 11), dtype, *rows)
    bounds("narrow_rows", (2, 5), "float32", 0.0, 1.0, [0.25], [0.5])
    return cases


def _gamma_cases() -> list[Case]:
    cases = []
    alpha = np.array([[0.05, 0.5, 0.99], [1.0, 1.5, 30.0]])
    for dtype in ("float32", "float64", "float16"):
        inputs = {"shape": _shape(3, 7), "alpha": alpha.astype(dtype)}
        cases.append(Case(f"RandomGamma_{dtype}", "RandomGamma", inputs, _seeds(87654321, 31)))
    inputs = {"shape": _shape(500, dtype=np.int64), "alpha": np.float32(1.1)}
    cases.append(Case("RandomGamma_many", "RandomGamma", inputs, _seeds(5, 6)))
    return cases


def _poisson_cases() -> list[Case]:
    cases = []
    rate = np.array([0.0, 0.5, 3.0, 9.99, 10.0, 25.0, 1000.0])
    for dtype in ("float32", "float64", "float16"):
        inputs = {"shape": _shape(17), "rate": rate.astype(dtype)}
        attrs = {"dtype": "int64", **_seeds(87654321, 41)}
        cases.append(Case(f"RandomPoissonV2_{dtype}", "RandomPoissonV2", inputs, attrs))
        attrs = {**_seeds(87654321, 42)}
        op = "RandomPoisson"
        cases.append(Case(f"{op}_{dtype}", op, inputs, attrs, producer=24))
    for dtype in ("float32", "float16", "int32"):
        inputs = {"shape": _shape(5, 5), "rate": np.array([4, 40], np.int32)}
        attrs = {"dtype": dtype, **_seeds(87654321, 43)}
        cases.append(Case(f"RandomPoissonV2_to_{dtype}", "RandomPoissonV2", inputs, attrs))
    return cases


def _other_cases() -> list[Case]:
    cases = []
    for size in (1, 2, 10, 300):
        inputs = {"value": np.arange(size, dtype=np.int32)}
        cases.append(Case(f"RandomShuffle_{size}", "RandomShuffle", inputs, _seeds(8, size)))
    inputs = {"value": np.arange(24, dtype=np.float32).reshape(6, 2, 2)}
    cases.append(Case("RandomShuffle_rows", "RandomShuffle", inputs, _seeds(0, 8)))
    image = np.arange(9 * 8 * 2, dtype=np.uint8).reshape(9, 8, 2)
    for name, size in (("both", (4, 5)), ("rows", (4, 8)), ("none", (9, 8))):
        inputs = {"image": image, "size": np.array(size, np.int64)}
        op = "RandomCrop"
        cases.append(Case(f"{op}_{name}", op, inputs, _seeds(87654321, 51), producer=7))
    logits = np.array([[0, 1, 2, -np.inf], [3, 3, 3, 3], [-50, 0, 50, 49]])
    for dtype, output in (("float32", "int64"), ("float64", "int32"), ("float16", "int64")):
        inputs = {"logits": logits.astype(dtype), "num_samples": np.array(7, np.int32)}
        attrs = {"output_dtype": output, **_seeds(87654321, 61)}
        cases.append(Case(f"Multinomial_{dtype}", "Multinomial", inputs, attrs))
    return cases


def _sampler_cases() -> list[Case]:
    cases = []
    true_classes = {"true_classes": np.array([[3, 11], [0, 7], [3, 3]], np.int64)}
    common = {"num_true": 2, **_seeds(87654321, 71)}

    def sampler(op: str, unique: bool, num_sampled: int, **attrs: Any) -> None:
        name = f"{op}_{num_sampled}_{'unique' if unique else 'repeated'}_{len(cases)}"
        attrs = {**common, "unique": unique, "num_sampled": num_sampled, **attrs}
        cases.append(Case(name, op, true_classes, attrs))

    for op in (
        "UniformCandidateSampler",
        "LogUniformCandidateSampler",
        "LearnedUnigramCandidateSampler",
        "ThreadUnsafeUnigramCandidateSampler",
    ):
        for unique in (True, False):
            for range_max in (12, 16, 1000):
                sampler(op, unique, 9, range_max=range_max)
    sampler("UniformCandidateSampler", True, 12, range_max=12)
    sampler("AllCandidateSampler", True, 12)
    weights = [float(i % 7 + 0.5) for i in range(20)]
    op = "FixedUnigramCandidateSampler"
    for unique in (True, False):
        sampler(op, unique, 9, range_max=20, unigrams=weights)
        sampler(op, unique, 9, range_max=22, unigrams=weights, distortion=0.75, num_reserved_ids=2)
    shard = {"num_shards": 3, "shard": 1, "num_reserved_ids": 1}
    sampler(op, True, 4, range_max=13, unigrams=weights * 2, **shard)
    return cases


CASES = {
    "floats": _float_cases(),
    "integers": _int_cases(),
    "stateless": _stateless_cases(),
    "parameterized": _parameterized_cases(),
    "gamma": _gamma_cases(),
    "poisson": _poisson_cases(),
    "other": _other_cases(),
    "samplers": _sampler_cases(),
}


def load(family: str) -> dict[str, np.ndarray]:
    """The records of a family: "case/output" to an array with one row per run."""
    with np.load(DATA / f"random_{family}.npz") as file:
        return {name: file[name] for name in file.files}


def _build(tf: Any, case: Case) -> list[Any]:
    """The case's node in the default graph; returns what to fetch."""
    attrs = {
        name: tf.as_dtype(value) if name.endswith("dtype") else value
        for name, value in case.attrs.items()
    }
    inputs = {name: tf.constant(value, name=name) for name, value in case.inputs.items()}
    if not case.producer:
        out = getattr(tf.raw_ops, case.op)(**inputs, **attrs)
        return list(out) if isinstance(out, tuple) else [out]
    graph_def = tf.get_default_graph().as_graph_def()
    graph_def.versions.producer = case.producer
    node = graph_def.node.add(name="drawn", op=case.op, input=list(inputs))
    for name, value in attrs.items():
        node.attr[name].i = value
    for name, tensor in inputs.items():
        slot = {"shape": "S", "rate": "dtype", "image": "T"}.get(name)
        if slot is not None:
            node.attr[slot].type = tensor.dtype.as_datatype_enum
    return tf.import_graph_def(graph_def, return_elements=["drawn:0"])


def _record(tf: Any, case: Case) -> dict[str, np.ndarray]:
    with tf.Graph().as_default():
        fetches = _build(tf, case)
        config = tf.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
        with tf.Session(config=config) as session:
            runs = [session.run(fetches) for _ in range(RUNS)]
    return {f"{case.name}/{key}": array for key, array in kept(runs, case.limit).items()}


def main() -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    DATA.mkdir(exist_ok=True)
    for family, cases in CASES.items():
        arrays: dict[str, np.ndarray] = {}
        for case in cases:
            arrays |= _record(tf, case)
        np.savez_compressed(DATA / f"random_{family}.npz", **arrays)
        print(f"{family}: {len(cases)} cases")


if __name__ == "__main__":
    main()
