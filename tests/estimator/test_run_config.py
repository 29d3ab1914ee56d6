"""Configurations, and the cluster they find in TF_CONFIG."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import weft as tf

RunConfig = tf.estimator.RunConfig
CLUSTER = {"chief": ["h:1"], "ps": ["h:2", "h:3"], "worker": ["h:4", "h:5"]}


def config_of(monkeypatch: Any, kind: str | None = None, index: Any = 0, **more: Any) -> Any:
    environment = {"cluster": CLUSTER, **more}
    if kind is not None:
        environment["task"] = {"type": kind, "index": index}
    monkeypatch.setenv("TF_CONFIG", json.dumps(environment))
    return RunConfig()


def test_alone() -> None:
    config = RunConfig()
    assert list(vars(config)) == [
        "_model_dir", "_tf_random_seed", "_save_summary_steps", "_save_checkpoints_steps",
        "_save_checkpoints_secs", "_session_config", "_keep_checkpoint_max",
        "_keep_checkpoint_every_n_hours", "_log_step_count_steps", "_train_distribute",
        "_device_fn", "_protocol", "_eval_distribute", "_experimental_distribute",
        "_experimental_max_worker_delay_secs", "_session_creation_timeout_secs", "_service",
        "_cluster_spec", "_task_type", "_task_id", "_global_id_in_cluster", "_master",
        "_evaluation_master", "_is_chief", "_num_ps_replicas", "_num_worker_replicas",
    ]  # fmt: skip
    assert (config.task_type, config.task_id, config.is_chief) == ("worker", 0, True)
    assert (config.save_checkpoints_secs, config.save_checkpoints_steps) == (600, None)
    assert (config.master, config.num_ps_replicas, config.num_worker_replicas) == ("", 0, 1)
    assert not config.cluster_spec and config.session_config is None


@pytest.mark.parametrize(
    ("kind", "index", "master", "number", "chief", "filters"),
    [
        ("chief", 0, "grpc://h:1", 0, True, ["/job:ps", "/job:chief"]),
        ("worker", 1, "grpc://h:5", 2, False, ["/job:ps", "/job:worker/task:1"]),
        (
            "ps", 0, "grpc://h:2", 3, False,
            ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
        ),
    ],
)  # fmt: skip
def test_in_a_cluster(
    monkeypatch: Any, kind: str, index: int, master: str, number: int, chief: bool, filters: Any
) -> None:
    config = config_of(monkeypatch, kind, index)
    assert (config.task_type, config.task_id, config.master) == (kind, index, master)
    assert (config.global_id_in_cluster, config.is_chief) == (number, chief)
    assert (config.num_ps_replicas, config.num_worker_replicas) == (2, 3)
    assert list(config.session_config.device_filters) == filters


def test_an_evaluator_is_outside(monkeypatch: Any) -> None:
    config = config_of(monkeypatch, "evaluator", eval_session_master="here")
    assert (config.task_type, config.evaluation_master, config.master) == ("evaluator", "here", "")
    assert (config.num_ps_replicas, config.num_worker_replicas) == (0, 0)
    assert config.global_id_in_cluster is None and not config.is_chief and not config.cluster_spec


def test_a_cluster_with_a_master(monkeypatch: Any) -> None:
    cluster = {"master": ["h:1"], "worker": ["h:2"], "ps": ["h:3"]}
    config = config_of(monkeypatch, "master", cluster=cluster)
    assert config.is_chief and config.num_worker_replicas == 2
    with pytest.raises(ValueError, match="job `chief` is not supported"):
        config_of(monkeypatch, "master", cluster={"master": ["h:1"], "chief": ["h:2"]})
    with pytest.raises(ValueError, match="task_type `evaluator` is not supported"):
        config_of(monkeypatch, "evaluator", cluster=cluster)


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"task": {"type": "ps"}}, "task type must be WORKER"),
        ({"task": {"index": 1}}, "task index must be 0"),
        ({"cluster": {"worker": ["a:1"]}}, 'must have one "chief" node'),
        ({"cluster": {"chief": ["a:1", "b:2"]}}, 'must have only one "chief" node'),
        ({"cluster": CLUSTER}, "task type must be set"),
        ({"cluster": CLUSTER, "task": {"type": "ps"}}, "task index must be set"),
        (
            {"cluster": CLUSTER, "task": {"type": "ps", "index": -1}},
            "Task index must be non-negative number.",
        ),
        (
            {"cluster": CLUSTER, "task": {"type": "ps", "index": 2}},
            "2 is not a valid task_id for task_type ps in the cluster_spec:",
        ),
        (
            {"cluster": CLUSTER, "task": {"type": "other", "index": 0}},
            "other is not a valid task_type in the cluster_spec:",
        ),
        ({"model_dir": ""}, "model_dir in TF_CONFIG should be non-empty."),
    ],
)
def test_mistakes_in_the_environment(monkeypatch: Any, environment: Any, message: str) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps(environment))
    with pytest.raises(ValueError, match=message):
        RunConfig()


def test_service_is_a_dict(monkeypatch: Any) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"service": 5}))
    with pytest.raises(TypeError, match='If "service" is set in TF_CONFIG, it must be a dict'):
        RunConfig()


def test_where_the_model_is(monkeypatch: Any, tmp_path: Path) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps({"model_dir": str(tmp_path)}))
    assert RunConfig().model_dir == RunConfig(model_dir=tmp_path).model_dir == str(tmp_path)
    with pytest.raises(ValueError, match="must have the same value as the model_dir in TF_CONFIG"):
        RunConfig(model_dir="elsewhere")
    monkeypatch.delenv("TF_CONFIG")
    with pytest.raises(ValueError, match="model_dir should be non-empty"):
        RunConfig(model_dir="")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("save_summary_steps", -1, "save_summary_steps should be >= 0"),
        ("save_checkpoints_steps", -1, "save_checkpoints_steps should be >= 0"),
        ("save_checkpoints_secs", -1, "save_checkpoints_secs should be >= 0"),
        ("session_config", {}, "session_config must be instance of ConfigProto"),
        ("keep_checkpoint_max", -1, "keep_checkpoint_max should be >= 0"),
        ("keep_checkpoint_every_n_hours", 0, "keep_checkpoint_every_n_hours should be > 0"),
        ("log_step_count_steps", 0, "log_step_count_steps should be > 0"),
        ("tf_random_seed", 1.0, "tf_random_seed must be integer."),
        ("device_fn", lambda x: "", "device_fn must be callable with exactly one argument"),
        ("protocol", "pigeon", "protocol should be grpc or grpc\\+verbs"),
        ("session_creation_timeout_secs", 0, "session_creation_timeout_secs should be > 0"),
        ("experimental_max_worker_delay_secs", 1.5, "must be an integer if set"),
    ],
)
def test_properties_are_checked(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RunConfig(**{name: value})
    with pytest.raises(ValueError, match=message):
        RunConfig().replace(**{name: value})


def test_steps_and_seconds_exclude_each_other() -> None:
    assert RunConfig(save_checkpoints_steps=5).save_checkpoints_secs is None
    both = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
    with pytest.raises(ValueError, match=both):
        RunConfig(save_checkpoints_steps=5, save_checkpoints_secs=5)
    changed = RunConfig().replace(save_checkpoints_steps=7)
    assert (changed.save_checkpoints_steps, changed.save_checkpoints_secs) == (7, None)
    with pytest.raises(ValueError, match="Replacing task_id is not supported"):
        RunConfig().replace(task_id=3)
