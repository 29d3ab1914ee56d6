"""How much of a GPU's time a trace explains: `python benchmarks/gpu/traced.py [--model mlp]`

Records steps of a model, operations inside of compiled programs included, and adds up the time of
all kernels and copies on the GPU's streams: by whether a node of the graph, and its line in the
program, is known for them. `--save FILE` keeps the trace, for `weft trace FILE`.
"""

from __future__ import annotations

import argparse
import importlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import with_weft  # first: it makes weft importable

from weft.runtime.recording.control import CONTROL, packed
from weft.runtime.xla.names import nodes_by_instruction

MODELS = ("mlp", "resnet50", "transformer", "product")


def stream_events(profile: bytes) -> Iterator[tuple[str, float, str]]:
    """Name, seconds and node ("" where none is known) of what ran on the streams of a device."""
    from jax.profiler import ProfileData

    for plane in ProfileData.from_serialized_xspace(profile).planes:
        for line in plane.lines if plane.name.startswith("/device:") else ():
            for event in line.events if line.name.startswith("Stream") else ():
                stats = dict(event.stats)
                table = nodes_by_instruction(str(stats.get("hlo_module")))
                node = table.get(str(stats.get("hlo_op")), "")
                yield str(stats.get("hlo_op", event.name)), event.duration_ns / 1e9, node


def shares(profiles: list[bytes], lines: Any) -> tuple[Counter[str], Counter[str]]:
    """Seconds by what is known of them, and the seconds of each event of which nothing is."""
    seconds, unknown = Counter[str](), Counter[str]()
    for name, taken, node in (event for profile in profiles for event in stream_events(profile)):
        seconds["all"] += taken
        seconds["node"] += taken if node else 0.0
        seconds["line"] += taken if node in lines else 0.0
        unknown[name] += 0.0 if node in lines else taken
    return seconds, unknown


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", choices=MODELS, default="transformer")
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--tiny", action="store_true", help="toy sizes")
    parser.add_argument("--save", type=Path, help="where to write the trace")
    options = parser.parse_args()
    model = importlib.import_module(options.model)
    CONTROL.start(operations=True)  # programs that are compiled now can be looked into
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
