"""Whose code a file is: the user's program, or a library of its time, or one of today's."""

from __future__ import annotations

import functools
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import importlib.metadata

WEFT = str(Path(__file__).parents[2])
_VERSION = "python{}.{}".format(*sys.version_info)
_STANDARD = tuple(  # without `sysconfig`, which takes longer to import than all of this
    {os.path.dirname(os.__file__), os.path.join(sys.base_exec_prefix, sys.platlibdir, _VERSION)}
)
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]")
# Libraries that ask for at least this Python were made when the old names were gone or going.
_TODAYS_PYTHON = 8
_TODAYS = frozenset(
    "absl cramjam fsspec google google_crc32c grpc h5py hypothesis jax jaxlib jupyter_client"
    " IPython ipykernel matplotlib ml_dtypes mypy numpy opt_einsum pandas PIL pip pluggy py"
    " pyarrow pygments pytest _pytest rich ruff scipy setuptools sklearn six tensorboard torch"
    " tqdm werkzeug yaml".split()
)


def is_users(file: str) -> bool:
    """Whether old names are looked up for the code in `file`."""
    path = os.path.abspath(file)
    if path.startswith(WEFT + os.sep):
        return False
    folder, package = _home(path)
    if _is_of_packages(folder):
        return _is_of_its_time(folder, package)
    return not path.startswith(tuple(f"{standard}{os.sep}" for standard in _STANDARD))


def is_installed(file: str) -> bool:
    """Whether a file is in a folder that packages are installed in."""
    return _is_of_packages(_home(os.path.abspath(file))[0])


def _home(path: str) -> tuple[str, str]:
    """(the folder that the package of a file is in, the package)."""
    installed = list(_INSTALLED.finditer(path))
    if installed:
        end = installed[-1].end()
        return path[: end - 1], re.split(r"[/\\.]", path[end:], maxsplit=1)[0]
    folder, name = os.path.split(path)
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
    return folder, name.partition(".")[0]


@functools.cache
def _is_of_packages(folder: str) -> bool:
    """Whether a folder is one that packages are installed in, also by `pip install --target`."""
    if _INSTALLED.search(folder + os.sep):
        return True
    try:
        return any(name.endswith((".dist-info", ".egg-info")) for name in os.listdir(folder))
    except OSError:
        return False


@functools.cache
def _is_of_its_time(folder: str, package: str) -> bool:
    """Whether an installed package is from the time of TensorFlow 1, by the Python it asks for."""
    if package in _TODAYS:
        return False
    asked = [_python_of(each) for each in _distributions(folder, package)]
    return all(version < _TODAYS_PYTHON for version in asked)


def _distributions(folder: str, package: str) -> list[importlib.metadata.Distribution]:
    import importlib.metadata

    try:
        found = [
            each
            for each in importlib.metadata.distributions(name=package, path=[folder])
            if each.metadata is not None
        ]
        names = [] if found else importlib.metadata.packages_distributions().get(package, [])
        return found or [importlib.metadata.distribution(name) for name in names]
    except importlib.metadata.PackageNotFoundError:
        return []


def _python_of(distribution: importlib.metadata.Distribution) -> int:
    """The least minor version of Python 3 that a distribution asks for; 0 when it does not say."""
    asked = distribution.metadata.get_all("Requires-Python") or [""]
    return max((int(each) for each in re.findall(r"(?:>=?|~=)\s*3\.(\d+)", asked[0])), default=0)
