"""Membership of a cluster: the devices of its tasks, once all of them answer."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from weft.cluster.transport import outcome
from weft.cluster.transport.inprocess import Peers
from weft.core import device_name, errors
from weft.core.deferred import Deferred
from weft.runtime.debug import report
from weft.runtime.devices.device import Device

# How often a worker that does not answer is asked again, and how long an answer may take.
_RETRY_SECONDS = 0.2
STATUS_SECONDS = 5.0


def devices_of(
    peers: Peers, filters: Sequence[str], deadline: float, renamed: bool = False
) -> list[Device]:
    """The devices of this task, then those of the tasks that `filters` let through.

    UnavailableError when one does not answer by `deadline`. With `renamed`, tasks have other names
    in this cluster than they give themselves.
    """
    tasks = [t for t in peers.addresses if t != peers.home and passes(t, filters)]
    found = _Members(peers, renamed).ask([peers.home, *sorted(tasks, key=_order)], deadline)
    return [device for devices in found for device in devices]


def passes(task: str, filters: Sequence[str]) -> bool:
    try:
        return not filters or any(device_name.is_compatible(f, task) for f in filters)
    except ValueError as error:
        raise errors.InvalidArgumentError(
            None, None, f"The session's device_filters are not names of tasks: {error}"
        ) from None


def _order(task: str) -> tuple[str, int]:
    parts = device_name.parse(task)
    return parts.job or "", parts.task or 0


class _Members:
    def __init__(self, peers: Peers, renamed: bool) -> None:
        self.peers, self.renamed = peers, renamed
        self.known: dict[str, list[Device]] = {}
        self.missing: dict[str, errors.OpError] = {}

    def ask(self, tasks: Sequence[str], deadline: float) -> list[list[Device]]:
        told: set[str] = set()
        while True:
            # All of them again: while one is waited for, another may have begun a new life.
            self.missing = {}
            calls = [self.peers(task).get_status(STATUS_SECONDS) for task in tasks]
            for task, call in zip(tasks, calls, strict=True):
                self._settle(task, call)
            if not self.missing:
                return [self.known[task] for task in tasks]
            for task in self.missing.keys() - told:
                where = self.peers.addresses[task]
                report.log(
                    f"CreateSession still waiting for response from worker: {task} at {where}"
                )
            told |= self.missing.keys()
            if time.monotonic() >= deadline:
                raise _nobody(self.missing, self.peers.addresses)
            time.sleep(_RETRY_SECONDS)

    def _settle(self, task: str, call: Deferred) -> None:
        try:
            devices: list[Device] = outcome.wait(call)
        except (errors.UnavailableError, errors.DeadlineExceededError) as error:
            self.missing[task] = error
            return
        if self.renamed:
            devices = [replace(d, name=renamed(d.name, task)) for d in devices]
        wrong = [d.name for d in devices if not d.name.startswith(task + "/")]
        if wrong:
            raise errors.InvalidArgumentError(
                None, None, f"{self.peers.addresses[task]} should be {task}, but it says that it"
                f" has {wrong[0]}: the cluster specs of the two servers differ",
            )  # fmt: skip
        self.known[task] = devices


def renamed(device: str, task: str) -> str:
    """The device of that kind and number of another task."""
    return f"{task}/device:{device.partition('/device:')[2]}"


def _nobody(missing: Mapping[str, errors.OpError], addresses: Mapping[str, str]) -> errors.OpError:
    lines = [f"{task} at {addresses[task]}: {error.message}" for task, error in missing.items()]
    return errors.UnavailableError(
        None, None, "No answer from workers of the cluster:\n  " + "\n  ".join(lines)
    )
