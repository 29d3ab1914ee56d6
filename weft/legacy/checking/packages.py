"""The packages that a program imports, and whether they are here."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from pathlib import Path

from weft.legacy.checking import old_names

# Import name -> the name that an installer knows, where they differ.
_DISTRIBUTIONS = {
    "Bio": "biopython",
    "OpenGL": "PyOpenGL",
    "PIL": "Pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "faiss": "faiss-cpu",
    "google.protobuf": "protobuf",
    "mpl_toolkits": "matplotlib",
    "past": "future",
    "pylab": "matplotlib",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "tensorflow_datasets": "tensorflow-datasets",
    "tensorflow_hub": "tensorflow-hub",
    "tensorflow_probability": "tensorflow-probability",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
# Packages that no installer brings back for this Python, and what is there instead.
_GONE = {
    "Image": "`from PIL import Image` (pip install Pillow)",
    "baselines": "the program's own copy of OpenAI baselines",
    "gflags": "absl.flags, or tf.flags",
    "keras_contrib": "the program's own copy of keras-contrib",
    "prettytensor": "tf.contrib.layers",
    "pylearn2": "nothing: it ended with Theano",
    "skflow": "tf.contrib.learn",
    "theano": "nothing: Theano ended in 2017",
}
# Gone from Python's own library, for programs checked where the table does not know them.
_GONE_FROM_PYTHON = frozenset(
    "asynchat asyncore cPickle cStringIO commands ConfigParser cookielib Cookie distutils"
    " dummy_threading exceptions HTMLParser httplib imp md5 nntplib Queue sets smtpd SocketServer"
    " StringIO telnetlib thread Tkinter tkMessageBox urllib2 urlparse UserDict xmlrpclib".split()
)


@dataclass(frozen=True)
class Package:
    """A package and its status.

    `status` is `standard`, `own`, `installed`, `translated`, `missing` or `gone`.
    """

    name: str
    status: str
    advice: str = ""


def status_of(module: str, own: frozenset[str]) -> Package:
    """The package of an imported module, and whether it is here."""
    root = module.partition(".")[0]
    if root in own:
        return Package(root, "own")
    row = old_names.module_row(module)
    if root in sys.stdlib_module_names and (row is None or _is_installed(module)):
        return Package(root, "standard")
    if row is not None and not _is_installed(module):
        return _of_row(root, row)
    if _is_installed(root):
        return Package(root, "installed")
    if root in _GONE or root in _GONE_FROM_PYTHON:
        return Package(root, "gone", _GONE.get(root, "gone from Python's own library"))
    return Package(root, "missing", f"pip install {_DISTRIBUTIONS.get(root, root)}")


def _of_row(root: str, row: old_names.Row) -> Package:
    """What the table says of a module that is gone; its substitute may be missing itself."""
    if row.substitute.startswith("pip "):
        return Package(row.old, "missing", row.substitute)
    needed = row.substitute.partition(".")[0]
    if needed and needed not in sys.stdlib_module_names and not _is_installed(needed):
        return Package(needed, "missing", f"pip install {_DISTRIBUTIONS.get(needed, needed)}")
    return Package(row.old, "translated", row.advice)


def _is_installed(module: str) -> bool:
    """Whether a module can be found, without running more than the packages above it."""
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def own_modules(files: list[Path]) -> frozenset[str]:
    """What the program brings itself: its files, their neighbours, and the folders they are in."""
    folders = {path.resolve().parent for path in files}
    names = {path.stem for path in files}
    for folder in folders:
        names |= {each.stem for each in folder.iterdir() if _can_be_imported(each)}
        names.add(folder.name)
    return frozenset(names - {"tensorflow"})


def _can_be_imported(path: Path) -> bool:
    if path.is_dir():
        return path.name.isidentifier() and any(path.glob("*.py"))
    return path.suffix in (".py", ".so", ".pyx")
