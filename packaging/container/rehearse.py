"""Runs the steps of the Containerfile without a container runtime.

    python packaging/container/rehearse.py [--target cpu|cuda] [--folder F] [--arg EXTRAS=keras]

Each stage gets an empty folder for a root and a fresh virtual environment for the image it begins
with; `/` in its commands is that folder. While a stage is built or run its root is at the same
path, as in a container, so that what has been installed can be copied from one to the next. Adding
users and changing owners takes rights and is only noted. At the end the image's command is run as
its user, if that can be done: its help, its versions, and a program that trains.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from containerfile import Step, filled, needed, parse, steps_of

ROOT = Path(__file__).parent.parent.parent
NEEDS_RIGHTS = ("useradd", "chown")
PROGRAM = """
import tensorflow as tf
x = tf.get_variable("x", [], initializer=tf.constant_initializer(5.0))
train = tf.train.GradientDescentOptimizer(0.3).minimize(tf.square(x - 2.0))
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for _ in range(40):
        session.run(train)
    print("trained to %.3f" % session.run(x))
"""


class Rehearsal:
    """Stages that are built one after another below a folder."""

    def __init__(self, folder: Path, arguments: dict[str, str]) -> None:
        self.folder, self.arguments = folder, arguments
        self.root = folder / "root"  # of the stage that is being built
        self.stand_ins = folder / "stand-ins"
        self.stand_ins.mkdir(parents=True, exist_ok=True)
        for name in NEEDS_RIGHTS:
            path = self.stand_ins / name
            path.write_text(f'#!/bin/sh\necho "    (not done here: {name} $*)"\n')
            path.chmod(0o755)

    def build(self, name: str, steps: list[Step]) -> None:
        """Runs the steps of a stage in a root of its own, and puts that away."""
        self.root.mkdir()
        venv.create(self.root / "usr", with_pip=True)
        self._prepare()
        for step in steps:
            print(f"{name}: {step.instruction} {step.text}", flush=True)
            getattr(self, f"_{step.instruction.lower()}")(step.text)
        self.root.rename(self.folder / name)

    def _prepare(self) -> None:
        system = os.environ.get("PATH", "")
        self.variables = {"PATH": f"{self.stand_ins}:{self.root / 'usr' / 'bin'}:{system}"}
        self.work, self.user = self.root, 0
        self.entry: list[str] = []
        self.command: list[str] = []

    def inside(self, text: str) -> str:
        """Absolute paths become those below the root."""
        return re.sub(r"(?<![\w./:$})*-])/(?=[a-z])", f"{self.root}/", text)

    def run(self, command: list[str] | str, **more: object) -> None:
        """A command in the stage's folder, with its variables alone, and pip's settings."""
        kept = {n: v for n, v in os.environ.items() if n.startswith(("PIP_", "SSL_", "HTTP"))}
        environment = {"HOME": str(self.folder), "LANG": "C.UTF-8", **kept, **self.variables}
        shell = isinstance(command, str)
        subprocess.run(command, shell=shell, cwd=self.work, env=environment, check=True, **more)

    # ---- instructions ----

    def _arg(self, text: str) -> None:
        self.variables[text] = self.arguments[text]

    def _env(self, text: str) -> None:
        for each in filled(text, self.variables).split():
            name, _, value = each.partition("=")
            self.variables[name] = self.inside(value)

    def _workdir(self, text: str) -> None:
        self.work = Path(self.inside(text))
        self.work.mkdir(parents=True, exist_ok=True)

    def _copy(self, text: str) -> None:
        *sources, target = text.split()
        base = ROOT
        if sources[0].startswith("--from="):
            base = self.folder / sources.pop(0).removeprefix("--from=")
        for source in sources:
            self._copy_one(base / source.lstrip("/"), target)

    def _copy_one(self, source: Path, target: str) -> None:
        to = self.work / self.inside(target)
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, to, symlinks=True, dirs_exist_ok=True, ignore=ignored)
        else:
            shutil.copy(source, to / source.name if target.endswith("/") else to)

    def _run(self, text: str) -> None:
        self.run(self.inside(text))

    def _user(self, text: str) -> None:
        self.user = int(text)

    def _entrypoint(self, text: str) -> None:
        self.entry = json.loads(text)

    def _cmd(self, text: str) -> None:
        self.command = json.loads(text)

    # ---- the image ----

    def try_out(self, name: str) -> None:
        """Runs the image's command as its user, with a program in its folder."""
        (self.folder / name).rename(self.root)
        size = sum(path.lstat().st_size for path in (self.root / "opt").rglob("*"))
        print(f"{name}: {size / 1e6:.0f} MB beside the base image; user {self.user}", flush=True)
        (self.work / "program.py").write_text(PROGRAM)
        user: dict[str, object] = {}
        if can_run_as(self.user):
            user = {"user": self.user, "group": self.user}
            os.chown(self.work, self.user, self.user)
            self.variables["HOME"] = str(self.work)
        else:
            print(f"{name}: run as this user, not as {self.user}", flush=True)
        for arguments in (self.command, ["--version"], ["run", "program.py"]):
            self.run([str(self.root / "opt/weft/bin" / self.entry[0]), *arguments], **user)
        self.root.rename(self.folder / name)


def can_run_as(user: int) -> bool:
    """Whether this process may start others as a user, and that user may run this Python."""
    command = [os.path.realpath(sys.executable), "-c", ""]
    try:
        return subprocess.run(command, user=user, group=user, cwd="/", check=False).returncode == 0
    except PermissionError:
        return False


def rehearse(target: str, folder: Path, **arguments: str) -> None:
    """Builds a target of the Containerfile and tries it out."""
    stages, known = parse((ROOT / "Containerfile").read_text(), **arguments)
    image = stages[needed(stages, target)[0]].base
    print(f"Python {sys.version.split()[0]} stands in for {image}", flush=True)
    rehearsal = Rehearsal(folder, known)
    for name in needed(stages, target):
        rehearsal.build(name, steps_of(stages, name))
    rehearsal.try_out(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--target", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--folder", type=Path, default=None, help="kept afterwards")
    parser.add_argument("--arg", metavar="NAME=VALUE", action="append", default=[])
    options = parser.parse_args()
    arguments = dict(each.split("=", 1) for each in options.arg)
    if options.folder is not None:
        rehearse(options.target, options.folder.absolute(), **arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)  # the image's user runs what is in it
        rehearse(options.target, Path(folder), **arguments)


if __name__ == "__main__":
    main()
