"""The kernels in C++ (folder `native`), once for each kind of CPU that this platform may have.

They are built where there is a compiler for them and the header of XLA's interface, which jaxlib
brings; without them weft leaves all work to XLA. Everything else is in pyproject.toml.
"""

import platform
import sys
from pathlib import Path

from setuptools import Extension, setup

SOURCES = Path("native")
OPTIONS = ["-std=c++17", "-O3", "-fno-math-errno", "-fvisibility=hidden"]
# Name of a kind of CPU -> what tells the compiler of it.
KINDS = {
    "x86_64": {
        "avx512": ["-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mavx2", "-mfma"],
        "avx2": ["-mavx2", "-mfma"],
    },
    "aarch64": {"arm": []},
}


def include_folder() -> Path | None:
    """Where the header of XLA's interface lies."""
    try:
        import jaxlib
    except ImportError:
        return None
    found = Path(jaxlib.__file__).parent / "include"
    return found if (found / "xla/ffi/api/c_api.h").exists() else None


def extensions() -> list[Extension]:
    folder = include_folder()
    if folder is None or not sys.platform.startswith("linux"):
        return []
    return [
        Extension(
            f"weft.ops.kit.native_{kind}",
            sorted(map(str, SOURCES.glob("*.cc"))),
            depends=sorted(map(str, SOURCES.glob("*.h"))),
            include_dirs=[str(folder)],
            define_macros=[("MODULE", f"native_{kind}"), ("Py_LIMITED_API", "0x030B0000")],
            extra_compile_args=OPTIONS + options,
            py_limited_api=True,
            language="c++",
            optional=True,
        )
        for kind, options in KINDS.get(platform.machine(), {}).items()
    ]


setup(ext_modules=extensions())
