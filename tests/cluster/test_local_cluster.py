from __future__ import annotations

import gc

import weft as tf
from tests.cluster.conftest import cluster_of
from weft.cluster import server as servers
from weft.cluster.transport import outcome
from weft.cluster.transport.grpc_transport import GrpcWorker


def test_a_cluster_for_a_test() -> None:
    config = tf.ConfigProto(device_count={"CPU": 2})
    workers, ps = tf.test.create_local_cluster(2, 1, worker_config=config)
    try:
        assert (len(workers), len(ps)) == (2, 1)
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(1.0)
        with tf.device("/job:worker/task:1/cpu:1"):
            y = v + 1.0
        with tf.Session(workers[0].target) as sess:
            names = [device.name for device in sess.list_devices()]
            assert sum("/job:worker" in name for name in names) == 4
            sess.run(v.initializer)
            assert sess.run(y) == 2
    finally:
        for server in [*workers, *ps]:
            server.stop()


def test_a_server_that_nobody_holds_goes_on() -> None:
    """Estimators start one and forget it."""
    cluster = cluster_of(worker=1)
    tf.train.Server(cluster, job_name="worker", task_index=0)
    gc.collect()
    address = cluster["worker"][0]
    client = GrpcWorker("/job:worker/replica:0/task:0", address)
    try:
        devices = outcome.wait(client.get_status(20.0))
        assert [d.device_type for d in devices] == ["CPU"]
    finally:
        client.close()
        for each in [s for s in servers._serving if s.target.endswith(address)]:
            each.stop()
    assert not [s for s in servers._serving if s.target.endswith(address)]
