"""Whose code a file is: the user's program, or a library of its time, or one of today's."""

from __future__ import annotations

import functools
import importlib.metadata
import os
import re
import sysconfig
from pathlib import Path

WEFT = str(Path(__file__).parents[2])
_STANDARD = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
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
    installed = None
    for installed in _INSTALLED.finditer(path):
        pass
    if installed is not None:
        return _is_of_its_time(path[: installed.end() - 1], _top_level(path[installed.end() :]))
    return not path.startswith((WEFT + os.sep, *(f"{folder}{os.sep}" for folder in _STANDARD)))


def _top_level(path: str) -> str:
    return re.split(r"[/\\.]", path, maxsplit=1)[0]


@functools.cache
def _is_of_its_time(folder: str, package: str) -> bool:
    """Whether an installed package is from the time of TensorFlow 1, by the Python it asks for."""
    if package in _TODAYS or package.startswith("_pytest"):
        return False
    asked = [_python_of(each) for each in _distributions(folder, package)]
    return all(version < _TODAYS_PYTHON for version in asked)


def _distributions(folder: str, package: str) -> list[importlib.metadata.Distribution]:
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
    asked = distribution.metadata.get("Requires-Python") or ""
    return max((int(each) for each in re.findall(r"(?:>=?|~=)\s*3\.(\d+)", asked)), default=0)
