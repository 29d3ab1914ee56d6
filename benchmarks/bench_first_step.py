"""How long from the start of the process to the end of its first training step, and what is
resident then? Nothing has been compiled by earlier processes."""

import statistics
import tempfile

from common import HERE, arguments, in_new_process, report


def main() -> None:
    impl = arguments(__doc__)
    runs = []
    for _ in range(4):
        with tempfile.TemporaryDirectory() as empty:
            runs.append(in_new_process([str(HERE / "mlp.py"), impl, "1"], WEFT_CACHE=empty))
    runs = runs[1:]  # the first one writes bytecode files and warms the file cache
    report(
        "first_step",
        impl,
        statistics.median(seconds for seconds, _ in runs),
        resident_mb=statistics.median(last["resident_mb"] for _, last in runs),
    )


if __name__ == "__main__":
    main()
