"""Run by every Python that a program under `weft run` starts, before anything else.

Light on purpose: weft itself is imported only when the process imports TensorFlow or a file of the
user's. Then it is as under `weft run`: TensorFlow is weft, and old names are there.
"""

import importlib.util
import os
import sys
from importlib.machinery import PathFinder

_HERE = os.path.dirname(os.path.abspath(__file__))
_USERS_CODE = os.path.join(_HERE, "..", "..", "legacy", "old", "users_code.py")
# Options of Python's that are followed by a value.
_WITH_VALUE = ("-W", "-X", "--check-hash-based-pycs")


def _users_code():
    """The module that tells whose a file is, by its path: its package would bring in weft."""
    spec = importlib.util.spec_from_file_location("_weft_users_code", _USERS_CODE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Door:
    """Lets weft in when it is needed, and goes."""

    busy = False
    users_code = None

    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if self.busy or root in sys.stdlib_module_names or root == "weft":
            return None
        if root != "tensorflow" and not self._is_users(name, path):
            return None
        self.open()
        return importlib.util.find_spec(name) if path is None else _find(name, path)

    def _is_users(self, name, path):
        spec = PathFinder.find_spec(name, path)
        if spec is None or not spec.origin or not spec.origin.endswith(".py"):
            return False
        if self.users_code is None:
            self.busy = True  # what it imports is Python's own, whatever its name
            self.users_code = _users_code()
            self.busy = False
        return self.users_code.is_users(spec.origin)

    def open(self):
        if self.busy:
            return
        self.busy = True
        from weft.legacy import old_world

        old_world.install()
        sys.meta_path.remove(self)

    def run_path(self, *args, **options):
        """Stands for `runpy.run_path`, by which a child of `multiprocessing` gets its main file."""
        import runpy

        self.open()
        return runpy.run_path(*args, **options)


def _find(name, path):
    for finder in list(sys.meta_path):
        spec = finder.find_spec(name, path)
        if spec is not None:
            return spec
    return None


def _script():
    """(options of Python's, the script, its arguments) of this process; None: it runs no script."""
    words = sys.orig_argv[1:]
    for i, word in enumerate(words):
        if i and words[i - 1] in _WITH_VALUE:
            continue
        if word in ("-c", "-m", "-") or word.startswith(("-c", "-m")):
            return None
        if not word.startswith("-"):
            return words[:i], word, words[i + 1 :]
    return None


def _begin():
    if importlib.util.find_spec("weft") is None or importlib.util.find_spec("numpy") is None:
        return  # another Python, without weft
    found = _script()
    if found is not None and os.name != "nt":
        options, script, args = found
        if os.path.isfile(script) and _users_code().is_users(script):
            # The main file is compiled by Python itself, before anything could be done about it.
            command = [sys.executable, *options, "-m", "weft", "run", script, *args]
            os.execv(sys.executable, command)
    door = _Door()
    sys.meta_path.insert(0, door)
    if "--multiprocessing-fork" in sys.orig_argv:
        import runpy

        runpy.run_path = door.run_path


def _hand_over():
    """Runs the `sitecustomize` that would have been found without this one."""
    rest = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


if hasattr(sys, "orig_argv"):  # a Python of today
    _begin()
_hand_over()
