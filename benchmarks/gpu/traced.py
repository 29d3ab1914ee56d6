"""How much of a GPU's time a trace explains: `python benchmarks/gpu/traced.py [--model mlp]`

Records steps of a model, operations inside of compiled programs included, and adds up the time of
all kernels and copies on the GPU's streams: by whether a node of the graph, and its line in the
program, is known for them. `--save FILE` keeps the trace, for `weft trace FILE`.
"""

from __future__ import annotations

import argparse
import importlib
from collections import Counter
from pathlib import Path
from typing import Any

import with_weft  # first: it makes weft importable

from weft.runtime.recording.control import CONTROL, packed
from weft.runtime.recording.xla_profile import operations_of

MODELS = ("mlp", "resnet50", "transformer", "product")


def time_on_streams(profiles: list[bytes]) -> float:
    """Seconds of all that ran on the streams of devices."""
    from jax.profiler import ProfileData

    planes = [p for data in profiles for p in ProfileData.from_serialized_xspace(data).planes]
    lines = [line for p in planes if p.name.startswith("/device:") for line in p.lines]
    streams = [line for line in lines if line.name.startswith("Stream")]
    return sum(event.duration_ns for line in streams for event in line.events) / 1e9


def shares(profiles: list[bytes], lines: Any) -> tuple[Counter[str], Counter[str]]:
    """Seconds by what is known of them, and the seconds of each event of which little is."""
    seconds, unknown = Counter(all=time_on_streams(profiles)), Counter[str]()
    for _, name, began, ended, row, detail in operations_of(profiles):
        if "Stream" in row:
            seconds["node"] += (ended - began) * bool(detail["node"])
            seconds["line"] += (ended - began) * (detail["node"] in lines)
            unknown[name] += (ended - began) * (detail["node"] not in lines)
    return seconds, unknown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=MODELS, default="transformer")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument(
        "--compiled-before", action="store_true", help="begin to record when all is compiled"
    )
    parser.add_argument("--tiny", action="store_true", help="toy sizes")
    parser.add_argument("--save", type=Path, help="where to write the trace")
    options = parser.parse_args()
    model = importlib.import_module(options.model)
    if not options.compiled_before:
        CONTROL.start(operations=True)  # programs that are compiled now run kernel by kernel
    training = with_weft.training(model, model.TINY if options.tiny else model.FULL, "resident")
    for _ in range(4):
        training.step_and_loss()
    CONTROL.start(operations=True, whole=True)
    for _ in range(options.steps):
        training.step_and_loss()
    recording, profiles = CONTROL.stop_with_profiles()
    if options.save:
        options.save.write_bytes(packed(recording))
    seconds, unknown = shares(profiles, recording["lines"])
    whole = seconds["all"] or float("nan")
    print(f"{options.model}: {whole / options.steps * 1e3:.2f} ms of kernels and copies a step")
    for field in ("node", "line"):
        print(f"  without a {field}: {100 - 100 * seconds[field] / whole:.2f}%")
    for name, taken in unknown.most_common(10):
        print(f"  {name}: {100 * taken / whole:.2f}%")


if __name__ == "__main__":
    main()
