"""The GPU benchmarks at toy size: weft's training steps find the losses that plain JAX's find."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from weft.core import flags

FOLDER = Path(__file__).parents[1] / "benchmarks" / "gpu"


@pytest.fixture(autouse=True)
def _in_folder(monkeypatch):
    """The benchmarks are scripts that import each other as top-level modules."""
    monkeypatch.syspath_prepend(str(FOLDER))
    names = {path.stem for path in FOLDER.glob("*.py")}
    kept = {name: sys.modules.pop(name) for name in names & set(sys.modules)}
    yield
    for name in names & set(sys.modules):
        del sys.modules[name]
    sys.modules.update(kept)


# The first two losses of the plain JAX program: python benchmarks/gpu/run.py --tiny --impl jax
LOSSES = {
    "mlp": [1.75092, 1.33584],
    "product": [7.6875, 7.6875],
    "transformer": [3.68961, 3.68577],
    "resnet50": [2.41457, 2.18714],
}


@pytest.mark.parametrize(
    ("name", "variant", "tolerance"),
    [
        ("mlp", "resident", 1e-5),
        ("mlp", "fed", 1e-5),
        ("product", "resident", 0),
        ("transformer", "resident", 1e-3),
        ("resnet50", "resident", 2e-2),
    ],
)
def test_same_losses_as_jax(name: str, variant: str, tolerance: float) -> None:
    model, with_weft = importlib.import_module(name), importlib.import_module("with_weft")
    with tf.Graph().as_default(), flags.XLA.override(name == "resnet50"):
        training = with_weft.training(model, model.TINY, variant)
        losses = [training.step_and_loss() for _ in range(2)]
        training.session.close()
    np.testing.assert_allclose(losses, LOSSES[name], rtol=tolerance)


def test_table_of_results() -> None:
    run = importlib.import_module("run")
    results = [
        {"model": "mlp", "variant": "fed", "impl": impl, "running": t, "fetched": 2 * t}
        for impl, t in (("weft", 1e-4), ("jax", 1e-4), ("weft", 3e-4), ("jax", 1e-4))
    ]
    results.append({"model": "mlp", "variant": "fed", "impl": "torch", "error": "no such module"})
    lines = run.table(results, ("weft", "jax", "torch"))
    cells = [cell.strip() for cell in lines[2].split("|")[2:-1]]
    assert cells == ["at the end", "0.200 ms", "0.100 ms", "-", "2.000", "behind"]
    assert len(lines) == 4
