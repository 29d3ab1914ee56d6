"""tf.flags and tf.app.run, each in a process of its own: flags are global."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(program: str, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", f"import sys\nimport weft as tf\n{program}", *args]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


DEFINED = """
tf.flags.DEFINE_string("name", "none", "a name")
tf.app.flags.DEFINE_integer("steps", 10, "how many")
tf.flags.DEFINE_boolean("fast", False, "hurry")
tf.flags.DEFINE_float("rate", 0.5, "learning rate")
tf.flags.DEFINE_enum("mode", "train", ["train", "test"], "what to do")
tf.flags.DEFINE_list("parts", ["a"], "parts")
tf.flags.DEFINE_multi_integer("sizes", [1], "sizes")
FLAGS = tf.app.flags.FLAGS
"""


def test_reading_a_flag_parses_the_command_line() -> None:
    program = DEFINED + (
        "print(FLAGS.is_parsed(), FLAGS.name, FLAGS.steps, FLAGS.fast, FLAGS.rate, FLAGS.mode,"
        " FLAGS.parts, FLAGS.sizes, FLAGS.is_parsed())"
    )
    args = "--name=x --steps 3 --fast --mode=test --parts=b,c --sizes=4 --sizes=5 -q --other=1"
    done = run(program, *args.split())
    assert done.stdout == "False x 3 True 0.5 test ['b', 'c'] [4, 5] True\n", done.stderr


def test_flags_belong_to_the_module_that_defines_them() -> None:
    program = DEFINED + "print(sorted(f.name for f in FLAGS.get_key_flags_for_module('-c')))"
    assert "'steps'" in run(program).stdout


def test_flags_can_be_set_and_listed() -> None:
    program = DEFINED + (
        "FLAGS.steps = 7\n"
        "print(FLAGS.steps, 'steps' in FLAGS, 'stops' in FLAGS, FLAGS['steps'].value)"
    )
    assert run(program).stdout == "7 True False 7\n"


def test_early_argument_names() -> None:
    program = (
        "tf.flags.DEFINE_integer(flag_name='n', default_value=3, docstring='count')\n"
        "print(tf.flags.FLAGS.n)"
    )
    done = run(program)
    assert done.stdout == "3\n"
    assert "deprecated" in done.stderr


def test_an_unknown_flag_is_an_attribute_error() -> None:
    done = run(DEFINED + "FLAGS.nothing")
    assert "AttributeError" in done.stderr


def test_run_calls_main_with_what_is_left() -> None:
    program = DEFINED + (
        "def main(argv):\n    print(FLAGS.steps, argv[1:])\n    return 3\ntf.app.run()"
    )
    done = run(program, "--steps=4", "--unknown=1", "rest")
    assert done.stdout == "4 ['--unknown=1', 'rest']\n", done.stderr
    assert done.returncode == 3


def test_run_takes_a_function_and_arguments() -> None:
    done = run("tf.app.run(main=lambda argv: print(argv), argv=['p', 'a'])")
    assert done.stdout == "['p', 'a']\n", done.stderr
    assert done.returncode == 0


def test_a_flag_that_absl_logging_has_too() -> None:
    program = """
tf.app.flags.DEFINE_string("log_dir", "logs", "where summaries go")
tf.app.flags.DEFINE_integer("v", 3, "how much to tell")
def main(argv):
    print(tf.app.flags.FLAGS.log_dir, tf.app.flags.FLAGS.v)
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.logging.info("still logs")
tf.app.run()
"""
    done = run(program, "--log_dir=x")
    assert done.stdout == "x 3\n", done.stderr
    assert "still logs" in done.stderr


def test_a_flag_is_still_defined_once() -> None:
    done = run(DEFINED + 'tf.flags.DEFINE_string("name", "", "again")')
    assert "DuplicateFlagError" in done.stderr


def test_a_required_flag() -> None:
    program = DEFINED + (
        "tf.flags.DEFINE_string('data', None, 'where')\n"
        "tf.flags.mark_flag_as_required('data')\n"
        "tf.app.run(main=lambda _: print(FLAGS.data))"
    )
    assert "--data must have a value" in (done := run(program)).stdout + done.stderr
    assert run(program, "--data=here").stdout == "here\n"


def test_flags_and_tests_are_loaded_late() -> None:
    done = run("print([m for m in ('absl.flags', 'unittest') if m in sys.modules])")
    assert done.stdout == "[]\n"
