"""Every public name of TensorFlow 1.15 is there with its parameters, or is listed with a reason."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

import weft as tf

# TensorFlow's own table lies beside the checkout where weft is developed, not in it.
TABLE = Path(__file__).parents[2] / "shared" / "facts" / "api_v1.txt"
LEFT_OUT = ("tf.lite", "tf.tpu", "tf.mlir", "tf.test.mock", "tf.contrib")
# Names that weft does not have, and why.
MISSING = {
    "tf.config.experimental_connect_to_cluster": "eager execution is in one process",
    "tf.config.experimental_connect_to_host": "eager execution is in one process",
    "tf.distribute.cluster_resolver.GCEClusterResolver": "asks a service of Google's",
    "tf.distribute.cluster_resolver.KubernetesClusterResolver": "asks a service of Kubernetes",
    "tf.distribute.cluster_resolver.SlurmClusterResolver": "asks a service of Slurm",
    "tf.distribute.experimental.TPUStrategy": "for TPUs only",
    "tf.estimator.tpu": "for TPUs only",
    "tf.experimental.function_executor_type": "chooses among executors of TensorFlow's",
    "tf.experimental.output_all_intermediates": "changes functions of TensorFlow's own while loops",
    "tf.profiler.Profiler.serialize_to_string": "profiles are kept as what sessions give",
}
# Parameters that differ, and why.
DIFFERING = {
    "tf.Operation.__init__": "operations are made by graphs; no program makes one by itself",
}


def entries() -> list[tuple[str, list[str] | None]]:
    """(name, parameters or None where the table has none) of the table."""
    owner, found = "", []
    for line in TABLE.read_text().splitlines():
        if line.startswith("class "):
            owner = line[6:]
            found.append((owner, None))
        elif member := re.match(r"(\s+\.|tf\.)([\w.]+)(\((.*)\))?", line):
            name = f"{owner}.{member[2]}" if line.startswith(" ") else f"tf.{member[2]}"
            known = member[4] is not None and member[4] != "..."
            found.append((name, listed(member[4]) if known else None))
    return [entry for entry in found if not entry[0].startswith(LEFT_OUT)]


def listed(text: str) -> list[str]:
    """The names of parameters: defaults may have commas in brackets."""
    depth, parts, part = 0, [], ""
    for char in text:
        depth += (char in "([{<") - (char in ")]}>")
        if char == "," and depth <= 0:
            parts.append(part)
            part = ""
        else:
            part += char
    names = [each.split("=")[0].strip() for each in (*parts, part)]
    return [name for name in names if re.fullmatch(r"\*{0,2}[A-Za-z_]\w*", name)]


def resolved(name: str) -> Any:
    value = tf
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


def parameters(value: Any) -> list[str] | None:
    """The names of parameters of ours; None for what has none, or takes any."""
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind in (each.VAR_POSITIONAL, each.VAR_KEYWORD) for each in found):
        return None
    return [each.name for each in found if each.name not in ("self", "cls")]


needs_table = pytest.mark.skipif(not TABLE.exists(), reason="the table is not beside the checkout")


def is_listed(name: str, reasons: dict[str, str]) -> bool:
    return any(name == each or name.startswith(each + ".") for each in reasons)


@needs_table
def test_every_name_is_there() -> None:
    missing = []
    for name, _ in entries():
        try:
            resolved(name)
        except AttributeError:
            missing.append(name)
    assert [name for name in missing if not is_listed(name, MISSING)] == []
    assert all(any(is_listed(name, {each: ""}) for name in missing) for each in MISSING)


@needs_table
def test_parameters_are_tensorflows() -> None:
    differing = {}
    for name, wanted in entries():
        if wanted is None or is_listed(name, MISSING) or any(each[0] == "*" for each in wanted):
            continue
        ours = parameters(resolved(name))
        if wanted[:1] in (["cls"], ["instance"]):  # ours are of bound methods
            wanted = wanted[1:]
        if ours is not None and ours[: len(wanted)] != wanted:
            differing[name] = (wanted, ours)
    assert set(differing) == set(DIFFERING), differing
