"""tf.sysconfig: where a compiler would look for headers and libraries.

weft has no compiled part, so the folders hold none: build scripts that only print or join these
paths work, and a compiler that needs a header says which one.
"""

from __future__ import annotations

import os
import platform

from weft.core.errors import PACKAGE
from weft.lib.platform.versions import CXX11_ABI_FLAG, MONOLITHIC_BUILD, VERSION


def get_include() -> str:
    """The folder for C++ headers."""
    return os.path.join(PACKAGE, "include")


def get_lib() -> str:
    """The folder for libraries: the package itself."""
    return PACKAGE.rstrip(os.sep)


def get_compile_flags() -> list[str]:
    """The compiler's flags for custom operations."""
    return [f"-I{get_include()}", f"-D_GLIBCXX_USE_CXX11_ABI={CXX11_ABI_FLAG}"]


def get_link_flags() -> list[str]:
    """The linker's flags for custom operations."""
    major = VERSION.partition(".")[0]
    mac = platform.system() == "Darwin"
    library = f"tensorflow_framework.{major}" if mac else f":libtensorflow_framework.so.{major}"
    return [f"-L{get_lib()}", f"-l{library}"]


__all__ = ["CXX11_ABI_FLAG", "MONOLITHIC_BUILD", "get_compile_flags", "get_include", "get_lib"]
