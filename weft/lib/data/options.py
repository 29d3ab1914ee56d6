"""tf.data.Options and its parts: what to do with a pipeline besides what it says."""

from __future__ import annotations

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
    for each in given:
        if not isinstance(each, kind):
            raise TypeError(f"Incompatible options type: {type(each)!r} vs {kind!r}")
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


class ThreadingOptions(OptionsBase):
    """How many threads a pipeline may have."""

    max_intra_op_parallelism = _Option(int)
    private_threadpool_size = _Option(int)


class StatsOptions(OptionsBase):
    """The aggregator for statistics of a pipeline, and the names it uses."""

    aggregator = _Option(object)
    prefix = _Option(str, lambda: "")
    counter_prefix = _Option(str, lambda: "")
    latency_all_edges = _Option(bool)


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
    """The rewrites of pipelines that are asked for or not; one of them changes the order."""

    apply_default_optimizations = _Option(bool)
    autotune = _Option(bool)
    autotune_algorithm = _Option(int)
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


# The options that ask for a rewrite of their own name, and those that do so unless told not to.
_REWRITES = (
    "filter_fusion filter_with_random_uniform_fusion hoist_random_uniform map_and_batch_fusion"
    " map_and_filter_fusion map_fusion map_parallelization noop_elimination parallel_batch"
    " shuffle_and_repeat_fusion"
).split()
_BY_DEFAULT = {"map_and_batch_fusion", "noop_elimination", "shuffle_and_repeat_fusion"}


def _asked_rewrites(options: OptimizationOptions) -> list[str]:
    defaults: set[str] = set() if options.apply_default_optimizations is False else _BY_DEFAULT
    set_to = {name: getattr(options, name) for name in _REWRITES}
    asked = {
        name for name, value in set_to.items() if value or (value is None and name in defaults)
    }
    if options.autotune_buffers:
        asked.add("inject_prefetch")
    if options.map_vectorization.enabled:
        asked.add("map_vectorization")
    return sorted(asked)


class Options(OptionsBase):
    """Options of a pipeline that are not part of its datasets."""

    experimental_deterministic = _Option(bool)
    experimental_distribute = _Option(DistributeOptions, DistributeOptions)
    experimental_optimization = _Option(OptimizationOptions, OptimizationOptions)
    experimental_slack = _Option(bool)
    experimental_stats = _Option(StatsOptions, StatsOptions)
    experimental_threading = _Option(ThreadingOptions, ThreadingOptions)
    experimental_stateful_whitelist = _Option(list)

    def optimizations(self) -> list[str]:
        """The names of the rewrites that `OptimizeDataset` is asked for."""
        last = {
            "make_sloppy": self.experimental_deterministic is False,
            "latency_all_edges": self.experimental_stats.latency_all_edges,
            "slack": self.experimental_slack,
        }
        asked = _asked_rewrites(self.experimental_optimization)
        return [*asked, *(rewrite for rewrite, wanted in last.items() if wanted)]

    def optimization_configs(self) -> list[str]:
        """What those rewrites are told: texts `rewrite:name:value`."""
        fastest = bool(self.experimental_optimization.map_vectorization.use_choose_fastest)
        found = [f"map_vectorization:use_choose_fastest:{str(fastest).lower()}"]
        if self.experimental_slack:
            found.append(f"slack:slack_period:{self.experimental_distribute.num_devices or 1}")
        return found

    def merge(self, options: Options) -> Options:
        """Options that say what both say; ValueError where they contradict."""
        return merge_options(self, options)
