"""The group of processes as Horovod shows it: who this process is, and how many there are."""

from __future__ import annotations

from typing import Any

from weft.core.meeting import MEETING, begin_anew
from weft.core.processes import Place, place
from weft.runtime.devices.device import accelerators
from weft.runtime.xla.processes import join, leave

_place: Place | None = None


def init(comm: Any = None) -> None:
    """Joins the processes that were started together; alone, there is nothing to join."""
    global _place
    if comm is not None:
        raise ValueError("hvd.init(comm) needs MPI. weft takes all processes that were started.")
    if _place is not None:
        return
    found = MEETING.take_place() if MEETING.is_kept() else place()
    with MEETING.watched(begin_anew, patience=0.0):
        join(found)
    _place = found


def shutdown() -> None:
    """Waits until all processes are here, and leaves."""
    global _place
    if _place is not None:
        _place = None
        leave()


def is_initialized() -> bool:
    return _place is not None


def _known() -> Place:
    if _place is None:
        raise ValueError("Horovod has not been initialized; use hvd.init().")
    return _place


def rank() -> int:
    """The number of this process."""
    return _known().rank


def size() -> int:
    """How many processes there are."""
    return _known().size


def local_rank() -> int:
    """The number of this process among those on its machine."""
    return _known().local_rank


def local_size() -> int:
    """How many processes there are on this machine."""
    return _known().local_size


def is_homogeneous() -> bool:
    """Whether all machines have as many processes."""
    return size() % local_size() == 0


def mpi_threads_supported() -> bool:
    """Whether MPI can be called from several threads; there is none."""
    return False


def mpi_enabled() -> bool:
    return False


def mpi_built() -> bool:
    return False


def gloo_enabled() -> bool:
    """Whether processes talk by Gloo, as they do where there is no GPU."""
    return not accelerators()


def gloo_built() -> bool:
    return True


def nccl_built() -> bool:
    """Whether processes talk by NCCL, as they do between GPUs."""
    return bool(accelerators())


def ddl_built() -> bool:
    return False


def ccl_built() -> bool:
    return False
