"""tf.data.Options and its parts: what to do with a pipeline besides what it says."""

from __future__ import annotations

import enum
from typing import Any


class _Option:
    """A field of options: typed, unset at first."""

    def __init__(self, kinds: Any, default: Any = None, doc: str = "") -> None:
        self.kinds, self.default, self.__doc__ = kinds, default, doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        if self.name not in instance._options:
            instance._options[self.name] = self.default() if callable(self.default) else None
        return instance._options[self.name]

    def __set__(self, instance: Any, value: Any) -> None:
        if not isinstance(value, self.kinds):
            kinds = self.kinds if isinstance(self.kinds, tuple) else (self.kinds,)
            shown = kinds[0] if len(kinds) == 1 else kinds
            raise TypeError(
                f'Property "{self.name}" must be of type {shown}, got: {value!r} (type:'
                f" {type(value)})"
            )
        instance._options[self.name] = value


class OptionsBase:
    """Fields that are compared, merged and checked for their names."""

    def __init__(self) -> None:
        object.__setattr__(self, "_options", {})

    def __setattr__(self, name: str, value: Any) -> None:
        if not hasattr(type(self), name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(getattr(self, n) == getattr(other, n) for n in {*self._options, *other._options})

    def __ne__(self, other: object) -> bool:
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    __hash__ = None  # type: ignore[assignment]
    _options: dict[str, Any]


def merge_options(*given: Any) -> Any:
    """Options that say what all of `given` say; ValueError where they contradict."""
    if len(given) < 1:
        raise ValueError("At least one options should be provided")
    kind = type(given[0])
    if any(not isinstance(each, kind) for each in given):
        raise TypeError("Could not merge incompatible options.")
    merged = given[0]
    for other in given[1:]:
        merged = _merged(kind(), merged, other)
    return merged


def _merged(result: Any, first: Any, second: Any) -> Any:
    unset = type(result)()
    for name in {*first._options, *second._options}:
        this, that, default = (getattr(each, name) for each in (first, second, unset))
        if that in (this, default):
            chosen = this
        elif this == default:
            chosen = that
        elif isinstance(this, OptionsBase):
            chosen = merge_options(this, that)
        else:
            raise ValueError(
                f"Cannot merge incompatible values ({this!r} and {that!r}) of option: {name}"
            )
        if chosen is not None:
            setattr(result, name, chosen)
    return result


class AutotuneAlgorithm(enum.Enum):
    """How buffers and parallelism are tuned."""

    HILL_CLIMB = 0
    GRADIENT_DESCENT = 1


class ThreadingOptions(OptionsBase):
    """How many threads a pipeline may have."""

    max_intra_op_parallelism = _Option(int)
    private_threadpool_size = _Option(int)


class StatsOptions(OptionsBase):
    """The aggregator for statistics of a pipeline, and the names it uses."""

    aggregator = _Option(object)
    prefix = _Option(str, lambda: "")
    counter_prefix = _Option(str, lambda: "")
    latency_all_edges = _Option(bool, lambda: False)


class DistributeOptions(OptionsBase):
    """How a pipeline is shared among workers."""

    auto_shard = _Option(bool, lambda: True)
    _make_stateless = _Option(bool, lambda: False)
    num_devices = _Option(int)


class MapVectorizationOptions(OptionsBase):
    """Whether functions run on batches."""

    enabled = _Option(bool)
    use_choose_fastest = _Option(bool)


class OptimizationOptions(OptionsBase):
    """The rewrites of pipelines that are asked for; weft does what helps either way."""

    apply_default_optimizations = _Option(bool)
    autotune = _Option(bool)
    autotune_algorithm = _Option(AutotuneAlgorithm)
    autotune_buffers = _Option(bool)
    autotune_cpu_budget = _Option(int)
    filter_fusion = _Option(bool)
    filter_with_random_uniform_fusion = _Option(bool)
    hoist_random_uniform = _Option(bool)
    map_and_batch_fusion = _Option(bool)
    map_and_filter_fusion = _Option(bool)
    map_fusion = _Option(bool)
    map_parallelization = _Option(bool)
    map_vectorization = _Option(MapVectorizationOptions, MapVectorizationOptions)
    noop_elimination = _Option(bool)
    parallel_batch = _Option(bool)
    prefetch_to_device = _Option(str)
    shuffle_and_repeat_fusion = _Option(bool)


class Options(OptionsBase):
    """Options of a pipeline that are not part of its datasets."""

    experimental_deterministic = _Option(bool)
    experimental_distribute = _Option(DistributeOptions, DistributeOptions)
    experimental_optimization = _Option(OptimizationOptions, OptimizationOptions)
    experimental_slack = _Option(bool)
    experimental_stats = _Option(StatsOptions, StatsOptions)
    experimental_threading = _Option(ThreadingOptions, ThreadingOptions)
    experimental_stateful_whitelist = _Option(list)

    def merge(self, options: Options) -> Options:
        """Options that say what both say; ValueError where they contradict."""
        return merge_options(self, options)
