"""partial_run over a cluster: one step in several calls, which the workers go on with."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from weft.cluster.interfaces import GraphCall, StepCall, StepResult, Watch
from weft.cluster.steps.distributed_step import DistributedStep, StepRun, new_step_id
from weft.core import errors
from weft.runtime.limits import RunningSteps


@dataclass
class _Partial:
    """A partial run: what of it is still to be fed and fetched."""

    step: DistributedStep
    feeds: Sequence[str]
    fetches: Sequence[str]
    id: int = field(default_factory=new_step_id)
    fed: set[str] = field(default_factory=set)
    fetched: set[str] = field(default_factory=set)

    def take(self, call: StepCall) -> bool:
        """Notes what a call feeds and fetches; whether it is the last one."""
        given = [name for name, _ in call.feeds]
        _check(given, self.feeds, self.fed, "feed", "fed")
        _check(call.fetches, self.fetches, self.fetched, "fetch", "fetched")
        self.fed.update(given)
        self.fetched.update(call.fetches)
        return len(self.fed) == len(self.feeds) and len(self.fetched) == len(self.fetches)


def _check(
    names: Sequence[str], declared: Sequence[str], done: set[str], what: str, how: str
) -> None:
    for name in names:
        if name not in declared:
            why = "was not specified in partial_run_setup."
        elif name in done:
            why = f"has already been {how}."
        else:
            continue
        raise errors.InvalidArgumentError(None, None, f"The {what} {name} {why}")


class PartialSteps:
    """The partial runs of one session.

    `register` makes the step of a signature; `needs(fetch, feeds)` is the first of `feeds` that
    computing a fetch takes, or None.
    """

    def __init__(
        self,
        register: Callable[..., DistributedStep],
        needs: Callable[[str, set[str]], str | None],
        running: RunningSteps,
    ) -> None:
        self._register, self._needs, self._running = register, needs, running
        self._partials: dict[str, _Partial] = {}
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()

    def begin(self, feeds: Sequence[str], fetches: Sequence[str], targets: Sequence[str]) -> str:
        if not fetches and not targets:
            raise errors.InvalidArgumentError(
                None, None, "PRunSetup: specify at least one target to fetch or execute."
            )
        step = self._register(tuple(feeds), tuple(fetches), tuple(targets))
        with self._lock:
            handle = f"partial_run_{next(self._numbers)}"
            self._partials[handle] = _Partial(step, list(feeds), list(fetches))
        return handle

    def advance(self, call: StepCall, watch: Watch | None = None) -> StepResult:
        """Feeds some more values and waits for some more fetches."""
        with self._lock:
            run = self._partials.get(call.partial)
            if run is None:
                raise errors.InvalidArgumentError(
                    None, None, "Must run 'setup' before performing partial runs!"
                )
            self._check_fed(run, call)
            last = run.take(call)
        try:
            values = self._run(run, call, last, watch)
        except errors.OpError:
            self._forget(call.partial)
            raise
        if last:
            self._forget(call.partial)
        return StepResult(values)

    def _check_fed(self, run: _Partial, call: StepCall) -> None:
        """A fetch that waited for a feed of a later call would wait forever."""
        missing = set(run.feeds) - run.fed - {name for name, _ in call.feeds}
        for fetch in call.fetches if missing else ():
            feed = self._needs(fetch, missing)
            if feed is not None:
                raise errors.InvalidArgumentError(
                    None, None, f"Fetch {fetch} can't be computed from the feeds that have been fed"
                    f" so far: {feed} has not been fed",
                )  # fmt: skip

    def _forget(self, handle: str) -> None:
        with self._lock:
            self._partials.pop(handle, None)

    def _run(self, run: _Partial, call: StepCall, last: bool, watch: Watch | None) -> list[Any]:
        shares = run.step.shares
        step = StepRun(run.id, shares, leaves=last)
        self._running.add(step)
        try:
            if watch is not None:
                watch(step.abandon)
            for i, share in enumerate(shares):
                graph_call = _graph_call(run, share, call, last)
                step.start(i, partial(share.worker.run_graph, graph_call))
            results = step.wait(None)
        finally:
            self._running.remove(step)
        made = {key: value for result in results for key, value in result.values}
        keys = {run.fetches[i]: key for share in shares for i, key in share.graph.fetches}
        return [made[keys[name]] for name in call.fetches]


def _graph_call(run: _Partial, share: Any, call: StepCall, last: bool) -> GraphCall:
    given = dict(call.feeds)
    feeds = [(key, given[run.feeds[i]]) for i, key in share.graph.feeds if run.feeds[i] in given]
    fetches = [key for i, key in share.graph.fetches if run.fetches[i] in call.fetches]
    return GraphCall(
        run.step.session, share.handle, run.id, feeds, fetches, partial=True, last=last
    )
