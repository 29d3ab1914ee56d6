"""The process in which cases run: programs come in as lines of JSON, verdicts go out.

It may not use more memory than it is told. What ends it is a finding of whoever started it.
"""

from __future__ import annotations

import gc
import io
import json
import os
import resource
import sys
import tempfile
import traceback
import warnings
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

COLLECT_EVERY = 10


def main(limit: int) -> None:
    """Answers until the input ends. `limit`: bytes of memory on top of what it has at the start."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    _warm_up()
    gc.collect()
    gc.freeze()  # what is there now stays: going through it after each case would take longest
    size = _address_space() + limit
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        _answer(answers, {"ready": True})
        for number, line in enumerate(sys.stdin):
            finding = verdict(json.loads(line))
            if number % COLLECT_EVERY == 0:
                gc.collect()
            _answer(answers, {"finding": finding})


def _answer(answers: Any, message: dict[str, Any]) -> None:
    print(json.dumps(message), file=answers, flush=True)


def _address_space() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def _warm_up() -> None:
    """What every program needs is there before time and memory count."""
    import weft as tf
    from weft.runtime.xla import region

    region.CALL_COST = -1e9  # nothing is too little to be compiled
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None])
        y = tf.reduce_sum(tf.exp(x))
        for _ in range(2):
            session.run(y, {x: [1.0]})


def verdict(program: str) -> str | None:
    """Runs a program; the finding, if what it raised is none of what TensorFlow raises."""
    quiet = io.StringIO()
    try:
        with redirect_stdout(quiet), redirect_stderr(quiet):
            exec(compile(program, "<case>", "exec"), {"__name__": "__fuzz__"})
    except BaseException as error:
        return judged(error)
    finally:
        _leave_eager()
    return None


def _leave_eager() -> None:
    from weft.client import eager

    eager.disable()


def judged(error: BaseException) -> str | None:
    """A finding's first line is its kind; then comes where the exception was raised."""
    from weft.core import errors
    from weft.core.exceptions import is_public

    # TensorFlow's own kernels say this, too; but then they say it themselves.
    cause = error.__cause__
    is_weak = isinstance(error, errors.InternalError) and not isinstance(
        cause, errors.OpError | None
    )
    if is_public(error) and not is_weak:
        return None
    # TensorFlow, too, has these for misuse and for files.
    if type(error) in (RuntimeError, OSError, FileNotFoundError):
        return None
    shown = cause if is_weak and cause is not None else error
    where = "".join(traceback.format_tb(shown.__traceback__)[-4:])
    kind = "InternalError for bad input" if is_weak else "raw exception"
    return f"{kind}: {type(shown).__name__}: {str(shown)[:300]}\n{where}"


if __name__ == "__main__":
    main(int(sys.argv[1]))
