"""How long does the import statement take in a new process?"""

import json
import statistics
import subprocess
import sys

from common import HERE, IMPORTS, arguments, environment, report

PROGRAM = """
import json, sys, time
sys.path.append({root!r})
began = time.perf_counter()
{statement}
print(json.dumps(time.perf_counter() - began))
"""


def once(impl: str) -> float:
    program = PROGRAM.format(root=str(HERE.parent), statement=IMPORTS[impl])
    done = subprocess.run(
        [sys.executable, "-P", "-c", program],  # not the weft of the folder it is run in
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    impl = arguments(__doc__)
    once(impl)  # writes the bytecode files and warms the file cache
    report("import", impl, statistics.median(once(impl) for _ in range(3)))


if __name__ == "__main__":
    main()
