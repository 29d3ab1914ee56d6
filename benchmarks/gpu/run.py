"""weft beside JAX and PyTorch on one GPU: the same training steps, alternating.

    python benchmarks/gpu/run.py [--only mlp resnet50] [--rounds 2] [--tiny]

Every measurement has a process to itself, so nobody's memory or threads are in another's way. Each
round runs weft and JAX, in turns first; PyTorch, which takes longest to compile, runs once.
`--together` has them in one process instead, sample by sample: for steps so short that one
process differs from the next by more than the implementations do. `--tiny` takes toy sizes, to see
that everything works (on a CPU, too).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODELS = ("mlp", "resnet50", "transformer", "product")
IMPLEMENTATIONS = ("weft", "jax", "torch", "torch-compiled")
# To see what weft's own rewrites of the graph are worth: without any.
PLAIN = "weft-plain"
NAMES = {
    "weft": "weft",
    PLAIN: "weft, graph as it is",
    "jax": "JAX",
    "torch": "PyTorch",
    "torch-compiled": "PyTorch compiled",
}
# How much slower than JAX weft may be.
ALLOWED = 1.03

Result = dict[str, Any]


# ---- one measurement, in a process of its own -------------------------------------------------


def measured(name: str, impl: str, variant: str, tiny: bool, samples: int) -> list[Result]:
    """Builds the model with an implementation, or with several joined by "+", and times it."""
    from timing import measure_by_turns

    model = importlib.import_module(name)
    size = model.TINY if tiny else model.FULL
    impls = impl.split("+")
    trainings = [_training(each, model, size, variant) for each in impls]
    found = measure_by_turns(trainings, size.steps, samples)
    return [
        {"model": name, "impl": each, "variant": variant, "device": _device(each), **result}
        for each, result in zip(impls, found, strict=True)
    ]


def _training(impl: str, model: Any, size: Any, variant: str) -> Any:
    library, _, how = impl.partition("-")
    more = {how: True} if how else {}
    return importlib.import_module(f"with_{library}").training(model, size, variant, **more)


def _device(impl: str) -> str:
    if impl.startswith("torch"):
        import torch

        where = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
        return f"{where}, PyTorch {torch.__version__}"
    import jax

    return f"{jax.devices()[0].device_kind}, JAX {jax.__version__}"


def in_child(name: str, impl: str, variant: str, options: Any, cache: str) -> list[Result]:
    program = [options.torch_python if "torch" in impl else sys.executable, __file__]
    program += ["--child", name, impl, variant, "--samples", str(options.samples)]
    program += ["--tiny"] if options.tiny else []
    variables = dict(os.environ) | {"JAX_COMPILATION_CACHE_DIR": cache}
    if options.dump:
        folder = Path(options.dump).resolve() / f"{name}_{impl}"
        flags = f"--xla_dump_to={folder} --xla_dump_hlo_as_text"
        variables["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()
    print(f"{name} {variant} {impl} ...", end=" ", file=sys.stderr, flush=True)
    done = subprocess.run(program, capture_output=True, text=True, env=variables)
    if done.returncode != 0:
        print("failed", file=sys.stderr)
        error = done.stderr[-3000:]
        return [
            {"model": name, "impl": each, "variant": variant, "error": error}
            for each in impl.split("+")
        ]
    found: list[Result] = json.loads(done.stdout.splitlines()[-1])
    print(*(_shown(result["running"]) for result in found), file=sys.stderr)
    return found


def run_all(options: Any, cache: str) -> list[Result]:
    results = []
    for name in options.only:
        variants = importlib.import_module(name).VARIANTS
        for turn in range(options.rounds):
            for variant in variants:
                impls = [i for i in options.impl if turn == 0 or "torch" not in i]
                order = impls[::-1] if turn % 2 else impls
                for impl in ["+".join(order)] if options.together else order:
                    results += in_child(name, impl, variant, options, cache)
    return results


# ---- the table --------------------------------------------------------------------------------


def _shown(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{seconds * 1e3:.3f} ms" if seconds < 1e-2 else f"{seconds * 1e3:.1f} ms"


def _median(results: list[Result], key: tuple[str, str, str], field: str) -> float | None:
    found = [r[field] for r in results if (r["model"], r["variant"], r["impl"]) == key]
    return statistics.median(found) if found else None


def table(results: list[Result], impls: Sequence[str]) -> list[str]:
    """Markdown: a line per model, variant and way of running."""
    good = [r for r in results if "error" not in r]
    heads = ["step", "loss", *(NAMES[i] for i in impls), "weft / JAX", ""]
    lines = ["| " + " | ".join(heads) + " |", "| --- | --- " + "| ---: " * (len(impls) + 2) + "|"]
    for name, variant in dict.fromkeys((r["model"], r["variant"]) for r in results):
        model = importlib.import_module(name)
        title = model.TITLE + (f", {variant}" if len(model.VARIANTS) > 1 else "")
        for field, loss in (("running", "at the end"), ("fetched", "every step")):
            times = {i: _median(good, (name, variant, i), field) for i in impls}
            ours, theirs = times.get("weft"), times.get("jax")
            ratio = ours / theirs if ours and theirs else None
            verdict = "" if ratio is None else "ok" if ratio <= ALLOWED else "behind"
            cells = [title, loss, *(_shown(times[i]) for i in impls)]
            cells += ["-" if ratio is None else f"{ratio:.3f}", verdict]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def report(results: list[Result], options: Any) -> str:
    machines = sorted({r["device"] for r in results if "device" in r})
    text = ["# Training steps on one GPU", ""]
    text += ["`" + " ".join(["python", "benchmarks/gpu/run.py", *sys.argv[1:]]) + "`", ""]
    text += [*machines, "", *table(results, options.impl), ""]
    text += ["Time per step: medians. Losses and the most memory used, of each run:", ""]
    for r in results:
        head = f"* {r['model']} {r['variant']} {NAMES[r['impl']]}: "
        if "error" in r:
            text.append(head + "failed: " + (r["error"].strip().splitlines() or ["?"])[-1])
            continue
        losses = " ".join(f"{loss:.4f}" for loss in r["losses"])
        memory = f"{r['peak_bytes'] / 2**30:.2f} GiB" if r["peak_bytes"] else "not counted"
        text.append(head + f"{losses}; {memory}; ready after {r['warm_up']:.0f} s")
    return "\n".join(text) + "\n"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--only", nargs="+", choices=MODELS, metavar="MODEL", default=MODELS)
    every = (*IMPLEMENTATIONS, PLAIN)
    add("--impl", nargs="+", choices=every, metavar="IMPL", default=IMPLEMENTATIONS)
    add("--rounds", type=int, default=2)
    add("--samples", type=int, default=7, help="samples of each time in a round")
    add("--together", action="store_true", help="in one process, sample by sample")
    add("--tiny", action="store_true", help="toy sizes")
    add("--torch-python", default=sys.executable, help="an interpreter that has PyTorch")
    add("--dump", help="folder for what XLA makes of each program")
    add("--out", type=Path, help="where to write the report (default: results.md, unless --tiny)")
    add("--json", type=Path, help="also write every result to this file")
    add("--child", nargs=3, metavar=("MODEL", "IMPL", "VARIANT"), help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    if options.child:
        print(json.dumps(measured(*options.child, options.tiny, options.samples)))
        return
    with tempfile.TemporaryDirectory() as cache:
        results = run_all(options, cache)
    text = report(results, options)
    print(text)
    out = options.out or (None if options.tiny else HERE / "results.md")
    if out is not None:
        out.write_text(text)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    for failed in (r for r in results if "error" in r):
        print(f"{failed['model']} {failed['impl']}:\n{failed['error']}", file=sys.stderr)
    sys.exit(any("error" in r and "torch" not in r["impl"] for r in results))


if __name__ == "__main__":
    main()
