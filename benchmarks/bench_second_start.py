"""How much sooner is a second process of the same program there? From the start of the process to
the end of its 20th training step, with nothing compiled before and after a first such process."""

import statistics
import tempfile

from common import HERE, arguments, in_new_process, report

STEPS = "20"


def main() -> None:
    impl = arguments(__doc__)
    program = [str(HERE / "mlp.py"), impl, STEPS]
    in_new_process(program)  # writes bytecode files and warms the file cache
    first, second = [], []
    for _ in range(3):
        with tempfile.TemporaryDirectory() as cache:
            first.append(in_new_process(program, WEFT_CACHE=cache)[0])
            second.append(in_new_process(program, WEFT_CACHE=cache)[0])
    report("second_start", impl, statistics.median(second), first_process=statistics.median(first))


if __name__ == "__main__":
    main()
