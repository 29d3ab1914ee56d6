"""Resolvers: which cluster a program is in, by TF_CONFIG or by what it was told."""

from __future__ import annotations

import json

import pytest

import weft as tf
from weft.lib.contrib.cluster_resolver import (
    SimpleClusterResolver,
    TFConfigClusterResolver,
    UnionClusterResolver,
)

CLUSTER = {"ps": ["p:1"], "worker": ["a:1", "b:2"]}


def simple(jobs: dict[str, object], **kwargs: object) -> SimpleClusterResolver:
    return SimpleClusterResolver(tf.train.ClusterSpec(jobs), **kwargs)  # type: ignore[arg-type]


@pytest.fixture
def tf_config(monkeypatch: pytest.MonkeyPatch) -> None:
    task = {"type": "worker", "index": "1"}
    told = json.dumps({"cluster": CLUSTER, "task": task, "rpc_layer": "grpc"})
    monkeypatch.setenv("TF_CONFIG", told)


@pytest.mark.usefixtures("tf_config")
def test_what_tf_config_says() -> None:
    found = TFConfigClusterResolver()
    assert found.cluster_spec().as_dict() == CLUSTER
    assert (found.task_type, found.task_id, found.rpc_layer) == ("worker", 1, "grpc")
    assert found.master() == "grpc://b:2" and found.master("ps", 0) == "grpc://p:1"
    with pytest.raises(ValueError, match="No task with index 9 in job 'worker'"):
        found.master("worker", 9)


@pytest.mark.usefixtures("tf_config")
def test_arguments_count_more() -> None:
    found = TFConfigClusterResolver("ps", 0, rpc_layer="other")
    assert found.master() == "other://p:1"
    found.task_type, found.task_id = "worker", 0
    assert found.master(rpc_layer="third") == "third://a:1"


@pytest.mark.parametrize(
    ("told", "master"),
    [
        ({}, ""),
        ({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker", "index": 0}}, ""),
        ({"cluster": CLUSTER, "session_master": "grpc://there:1"}, "grpc://there:1"),
    ],
)
def test_a_program_alone(
    told: dict[str, object], master: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_CONFIG", json.dumps(told))
    assert TFConfigClusterResolver().master() == master


def test_devices_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TF_CONFIG", raising=False)
    config = tf.ConfigProto(device_count={"CPU": 3, "GPU": 0})
    assert TFConfigClusterResolver().num_accelerators(config_proto=config) == {"CPU": 3}
    server = tf.train.Server.create_local_server(config=config)
    here = simple({"local": ["x:1"]}, master=server.target)
    assert super(SimpleClusterResolver, here).num_accelerators() == {"CPU": 3}
    server.stop()


def test_a_cluster_that_is_known() -> None:
    found = simple(CLUSTER, master="m", num_accelerators={"GPU": 3}, rpc_layer="grpc")
    assert found.master() == "grpc://m" and found.master("worker", 0, "rpc") == "rpc://a:1"
    assert found.num_accelerators() == {"GPU": 3}
    with pytest.raises(TypeError, match="must be a ClusterSpec"):
        SimpleClusterResolver(CLUSTER)  # type: ignore[arg-type]


def test_several_clusters_as_one() -> None:
    one = simple({"worker": ["a:1", "b:1"]}, master="m", task_type="worker", task_id=1)
    two, three = simple({"worker": ["c:1"], "ps": {3: "d:1"}}), simple({"worker": {5: "e:1"}})
    both = UnionClusterResolver(one, two, rpc_layer="grpc")
    assert both.cluster_spec().as_dict() == {"worker": ["a:1", "b:1", "c:1"], "ps": {3: "d:1"}}
    assert (both.master(), both.master("ps", 3)) == ("m", "grpc://d:1")
    assert (both.task_type, both.task_id, both.rpc_layer) == ("worker", 1, "grpc")
    mixed = UnionClusterResolver(one, three).cluster_spec().as_dict()
    assert mixed == {"worker": {0: "a:1", 1: "b:1", 5: "e:1"}}
    with pytest.raises(KeyError, match="Duplicate keys"):
        UnionClusterResolver(three, three).cluster_spec()
    with pytest.raises(ValueError, match="At least one ClusterResolver"):
        UnionClusterResolver()
