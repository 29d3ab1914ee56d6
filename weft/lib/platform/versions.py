"""The version of TensorFlow whose API and graphs weft speaks."""

from __future__ import annotations

import platform

from weft.graph.graph import PRODUCER_VERSION

VERSION = __version__ = "1.15.0"
GIT_VERSION = __git_version__ = "weft"
COMPILER_VERSION = __compiler_version__ = platform.python_compiler()
CXX11_ABI_FLAG = __cxx11_abi_flag__ = 1
MONOLITHIC_BUILD = __monolithic_build__ = 0
GRAPH_DEF_VERSION = PRODUCER_VERSION
GRAPH_DEF_VERSION_MIN_CONSUMER = 0
GRAPH_DEF_VERSION_MIN_PRODUCER = 0
