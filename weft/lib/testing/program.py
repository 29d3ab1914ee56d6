"""A test file as a program: its `main`, and the folders it may use."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile

_temp_dir: str | None = None


def main(argv: list[str] | None = None) -> None:
    """Runs the tests of the calling program; with `--benchmarks=<regex>`, benchmarks instead.

    Args:
        argv: the command line; None: `sys.argv`.

    Raises:
        SystemExit: when the tests have run, with the exit code.

    Example:
        >>> callable(tf.test.main)
        True
    """
    from weft.lib.platform import app
    from weft.lib.testing import benchmark

    argv = sys.argv if argv is None else argv
    chosen = [arg for arg in argv if arg.lstrip("-").startswith("benchmarks=") and arg[:1] == "-"]
    if chosen:
        argv = [arg for arg in argv if arg not in chosen]
        pattern = chosen[0].partition("=")[2]
        app.run(lambda _: benchmark.run_benchmarks(pattern), argv=argv)
    else:
        app.run(_run_tests, argv=argv)


def _run_tests(argv: list[str]) -> None:
    from absl.testing import absltest

    absltest.main(argv=argv)


def get_temp_dir() -> str:
    """A folder for the tests of this process, removed when it ends.

    Returns:
        A path; the same one every time.

    Example:
        >>> tf.gfile.IsDirectory(tf.test.get_temp_dir())
        True
    """
    global _temp_dir
    if _temp_dir is None:
        parent = os.environ.get("TEST_TMPDIR")
        name = os.path.splitext(os.path.basename(sys.argv[0]))[0] or "test"
        _temp_dir = tempfile.mkdtemp(prefix=f"{name}_", dir=parent)
        atexit.register(shutil.rmtree, _temp_dir, ignore_errors=True)
    return _temp_dir


def test_src_dir_path(relative_path: str) -> str:
    """The path at which Bazel puts a source file of TensorFlow for a test to read."""
    return os.path.join(os.environ["TEST_SRCDIR"], "org_tensorflow/tensorflow", relative_path)
