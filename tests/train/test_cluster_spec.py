"""tf.train.ClusterSpec: every way to write a cluster down, and what it says of it."""

import pytest

import weft as tf

DENSE = {"ps": ["ps0:1", "ps1:1"], "worker": ("w0:1",)}
SPARSE = {"ps": ["ps0:1"], "worker": {3: "w3:1", 1: "w1:1"}, "none": {}}


class TestClusterSpec:
    def test_dense_jobs_are_lists(self):
        cluster = tf.train.ClusterSpec(DENSE)
        assert cluster.as_dict() == {"ps": ["ps0:1", "ps1:1"], "worker": ["w0:1"]}
        assert cluster.jobs == ["ps", "worker"]
        assert str(cluster) == "ClusterSpec({'ps': ['ps0:1', 'ps1:1'], 'worker': ['w0:1']})"

    def test_sparse_jobs_are_dictionaries(self):
        cluster = tf.train.ClusterSpec(SPARSE)
        assert cluster.as_dict() == SPARSE
        assert cluster.num_tasks("worker") == 2 and cluster.task_indices("worker") == [1, 3]
        assert cluster.job_tasks("worker") == [None, "w1:1", None, "w3:1"]
        assert cluster.task_address("worker", 3) == "w3:1"
        assert cluster.job_tasks("none") == [] and cluster.num_tasks("none") == 0

    @pytest.mark.parametrize("tasks", [DENSE, SPARSE, {}])
    def test_there_and_back(self, tasks):
        cluster = tf.train.ClusterSpec(tasks)
        message = cluster.as_cluster_def()
        assert [job.name for job in message.job] == sorted(tasks)
        for again in (tf.train.ClusterSpec(message), tf.train.ClusterSpec(cluster)):
            assert again == cluster and not again != cluster
            assert again.as_dict() == cluster.as_dict()
        assert bool(cluster) == bool(tasks)

    def test_a_copy_is_a_copy(self):
        cluster = tf.train.ClusterSpec(DENSE)
        copied = tf.train.ClusterSpec(cluster)
        copied.as_cluster_def().job[0].tasks[5] = "late:1"
        assert 5 not in cluster.as_cluster_def().job[0].tasks

    def test_equality(self):
        cluster = tf.train.ClusterSpec({"ps": ["a:1"]})
        assert cluster == tf.train.ClusterSpec({"ps": {0: "a:1"}}) == {"ps": {0: "a:1"}}
        assert cluster != tf.train.ClusterSpec({"ps": ["a:2"]})
        assert cluster != tf.train.ClusterSpec({"p": ["a:1"]})

    def test_unknown_jobs_and_tasks(self):
        cluster = tf.train.ClusterSpec(SPARSE)
        for ask in (cluster.num_tasks, cluster.task_indices, cluster.job_tasks):
            with pytest.raises(ValueError, match="No such job in cluster: 'chief'"):
                ask("chief")
        with pytest.raises(ValueError, match="No task with index 2 in job 'worker'"):
            cluster.task_address("worker", 2)

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ("ps0:1", "`cluster` must be a dictionary"),
            ({"ps": "ps0:1"}, "tasks for job 'ps' must be a list or a dictionary"),
            ({"ps": [1]}, "Task address 1 must be bytes or unicode"),
            ({2: ["ps0:1"]}, "Job name 2 must be bytes or unicode"),
        ],
    )
    def test_wrong_clusters(self, wrong, message):
        with pytest.raises(TypeError, match=message):
            tf.train.ClusterSpec(wrong)

    def test_server_def_holds_a_cluster(self):
        cluster = tf.train.ClusterSpec(DENSE)
        config = tf.ConfigProto(allow_soft_placement=True)
        server = tf.train.ServerDef(
            cluster=cluster.as_cluster_def(), job_name="ps", task_index=1,
            default_session_config=config, protocol="grpc",
        )  # fmt: skip
        again = tf.train.ServerDef.FromString(server.SerializeToString())
        assert tf.train.ClusterSpec(again.cluster) == cluster
        assert again.default_session_config == config and again.task_index == 1
