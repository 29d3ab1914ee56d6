"""What a server is told to serve: models, versions, labels, batching; as text and as messages.

The texts are those of TensorFlow Serving's `--model_config_file` and `--batching_parameters_file`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from google.protobuf import text_format

from weft.core import machine
from weft.protos.serving import message
from weft.protos.text import merge_text
from weft.serve.errors import invalid
from weft.storage import file_io

_PLATFORM = "tensorflow"


@dataclass(frozen=True)
class Policy:
    """Which of the versions in a folder are served: the `latest` so many, `specific` ones, or all.

    All: `latest` is 0 and there are no specific ones.
    """

    latest: int = 1
    specific: tuple[int, ...] = ()

    def choose(self, found: Iterable[int]) -> set[int]:
        """The versions to serve, of those that are there."""
        if self.specific:
            return set(found) & set(self.specific)
        ordered = sorted(found)
        return set(ordered[-self.latest :] if self.latest else ordered)


ALL = Policy(latest=0)


@dataclass(frozen=True)
class ModelConfig:
    """One model. `sampling` is the part of its requests that is logged; None: the server says."""

    name: str
    path: str
    policy: Policy = Policy()
    labels: dict[str, int] = field(default_factory=dict)
    sampling: float | None = None


def read_config(text: str) -> tuple[ModelConfig, ...] | None:
    """The models of a ModelServerConfig as text; None if it has no list of them.

    InvalidArgumentError if it is no such message.
    """
    try:
        config = merge_text(text, message("ModelServerConfig")())
    except text_format.ParseError as error:
        raise invalid(f"Cannot read the model config: {error}") from None
    return None if config.WhichOneof("config") is None else from_message(config)


def from_message(config: Any) -> tuple[ModelConfig, ...]:
    """The models of a ModelServerConfig."""
    if config.WhichOneof("config") == "custom_model_config":
        raise invalid("ModelServer does not yet support custom model config.")
    found = tuple(_model(each) for each in config.model_config_list.config)
    names = [each.name for each in found]
    for name in names:
        if names.count(name) > 1:
            raise invalid(f"Illegal to list model {name} multiple times in config list")
    return found


def _model(config: Any) -> ModelConfig:
    _check_platform(config)
    if not config.name:
        raise invalid("A model of the config has no name")
    if not (os.path.isabs(config.base_path) or "://" in config.base_path):
        raise invalid(
            f"Expected model {config.name} to have an absolute path or URI; got"
            f" base_path()={config.base_path}"
        )
    sampling = None
    if config.HasField("logging_config"):
        sampling = config.logging_config.sampling_config.sampling_rate
    return ModelConfig(
        config.name, config.base_path, _policy(config.model_version_policy),
        dict(config.version_labels), sampling,
    )  # fmt: skip


def _check_platform(config: Any) -> None:
    if config.model_type and config.model_platform:
        raise invalid(
            "Illegal setting both ModelServerConfig::model_type (deprecated) and"
            f" ModelServerConfig::model_platform, model name is {config.name}"
        )
    if config.model_type > 1:
        raise invalid(f"ModelServerConfig::model_type choice {config.model_type} not supported.")
    if not (config.model_type or config.model_platform):
        raise invalid(
            "Illegal setting neither ModelServerConfig::model_type (deprecated) nor"
            f" ModelServerConfig::model_platform, model name is {config.name}"
        )
    if config.model_platform not in ("", _PLATFORM):
        raise invalid(f"Model {config.name} requests unsupported platform {config.model_platform}")


def _policy(policy: Any) -> Policy:
    choice = policy.WhichOneof("policy_choice")
    if choice == "all":
        return ALL
    if choice == "specific":
        if not policy.specific.versions:
            raise invalid("A policy of specific versions names none")
        return Policy(specific=tuple(policy.specific.versions))
    return Policy(latest=max(policy.latest.num_versions, 1))


# ---- batching -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Batching:
    """How requests are put together. The names and defaults are TensorFlow Serving's.

    Without `allowed_batch_sizes` they are the powers of two up to the largest: XLA compiles a
    program per size, so there have to be few.
    """

    max_batch_size: int = 1000
    batch_timeout_micros: int = 0
    max_enqueued_batches: int = 10
    num_batch_threads: int = field(default_factory=machine.cores)
    allowed_batch_sizes: tuple[int, ...] = ()
    pad_variable_length_inputs: bool = False
    enable_large_batch_splitting: bool = False
    max_execution_batch_size: int = 0

    def __post_init__(self) -> None:
        _check_positive("max_batch_size", self.max_batch_size)
        _check_positive("num_batch_threads", self.num_batch_threads)
        for name in ("batch_timeout_micros", "max_enqueued_batches"):
            if getattr(self, name) < 0:
                raise invalid(f"{name} must be non-negative; was {getattr(self, name)}")
        sizes = self.allowed_batch_sizes
        if any(a >= b for a, b in zip((0, *sizes), sizes, strict=False)):
            raise invalid("allowed_batch_sizes entries must be monotonically increasing")
        if sizes and sizes[-1] != self.largest:
            name = "max_execution_batch_size" if self.splits else "max_batch_size"
            raise invalid(
                f"Last entry in allowed_batch_sizes must match {name}; last entry was {sizes[-1]};"
                f" expected {self.largest}"
            )

    @property
    def splits(self) -> bool:
        return self.enable_large_batch_splitting and self.max_execution_batch_size > 0

    @property
    def largest(self) -> int:
        """The largest batch that is run."""
        return self.max_execution_batch_size if self.splits else self.max_batch_size

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes that batches are rounded up to."""
        if self.allowed_batch_sizes:
            return self.allowed_batch_sizes
        powers = [1 << n for n in range(self.largest.bit_length()) if 1 << n < self.largest]
        return (*powers, self.largest)

    def rounded(self, size: int) -> int:
        """The least allowed size that so many rows fit into."""
        return next((each for each in self.sizes if each >= size), size)


def _check_positive(name: str, value: int) -> None:
    if value < 1:
        raise invalid(f"{name} must be positive; was {value}")


def read_batching(text: str) -> Batching:
    """The parameters of a BatchingParameters as text. InvalidArgumentError if it is none."""
    try:
        found = merge_text(text, message("BatchingParameters")())
    except text_format.ParseError as error:
        raise invalid(f"Cannot read the batching parameters: {error}") from None
    wrapped = (
        *("max_batch_size", "batch_timeout_micros", "max_enqueued_batches", "num_batch_threads"),
        *("enable_large_batch_splitting", "max_execution_batch_size"),
    )
    given = {name: getattr(found, name).value for name in wrapped if found.HasField(name)}
    return Batching(
        allowed_batch_sizes=tuple(found.allowed_batch_sizes),
        pad_variable_length_inputs=found.pad_variable_length_inputs,
        **given,
    )


def read_metrics_path(text: str) -> str:
    """Where a MonitoringConfig as text wants the metrics, "" for where they are anyway."""
    try:
        found = merge_text(text, message("MonitoringConfig")())
    except text_format.ParseError as error:
        raise invalid(f"Cannot read the monitoring config: {error}") from None
    path = str(found.prometheus_config.path)
    if path and not path.startswith("/"):
        raise invalid(f"The path of the metrics begins with /, not as {path!r}")
    return path


PER_MODEL = "batching_params.pbtxt"


def batching_of(path: str, shared: Batching) -> Batching:
    """The parameters in a version's own folder, if there are any; threads are the server's."""
    own = os.path.join(path, PER_MODEL)
    if not file_io.exists(own):
        return shared
    found = read_batching(file_io.read_file_to_string(own))
    return replace(found, num_batch_threads=shared.num_batch_threads)
