"""tf.train.replica_device_setter: variables on parameter servers, the rest on workers."""

import pytest

import weft as tf

CLUSTER = {"ps": ["ps0:1", "ps1:1"], "worker": ["w0:1", "w1:1", "w2:1"]}


def variables(count, **arguments):
    """The devices of `count` variables and of something computed from the first."""
    with tf.device(tf.train.replica_device_setter(**arguments)):
        made = [tf.get_variable(f"v{i}", [i + 1]) for i in range(count)]
        result = made[0] + 1.0
    return [v.device for v in made], result.device, made


class TestRoundRobin:
    @pytest.mark.parametrize(
        "cluster",
        [CLUSTER, tf.train.ClusterSpec(CLUSTER), tf.train.ClusterSpec(CLUSTER).as_cluster_def()],
    )
    def test_by_cluster(self, cluster):
        devices, result, made = variables(3, cluster=cluster)
        assert devices == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
        assert result == "/job:worker"
        assert made[1].initializer.device == "/job:ps/task:1"

    def test_by_number(self):
        assert variables(2, ps_tasks=1)[0] == ["/job:ps/task:0"] * 2

    def test_resource_variables(self):
        with tf.device(tf.train.replica_device_setter(ps_tasks=2)):
            made = [tf.get_variable(f"v{i}", [], use_resource=True) for i in range(2)]
            value = made[1].read_value()
        assert [v.device for v in made] == ["/job:ps/task:0", "/job:ps/task:1"]
        assert value.device == "/job:worker"

    @pytest.mark.parametrize(
        "arguments",
        [{}, {"cluster": {"worker": ["w0:1"]}}, {"cluster": CLUSTER, "ps_device": "/job:param"}],
    )
    def test_no_parameter_servers_no_function(self, arguments):
        assert tf.train.replica_device_setter(**arguments) is None

    def test_other_jobs_and_ops(self):
        arguments = {"cluster": {"sun": ["a:1", "b:1"], "moon": ["c:1"]}, "ps_device": "/job:sun"}
        devices, result, _ = variables(2, worker_device="/job:moon", **arguments)
        assert devices == ["/job:sun/task:0", "/job:sun/task:1"] and result == "/job:moon"
        with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_ops=["Const"])):
            assert tf.constant(1.0).device == "/job:ps/task:0"
            assert tf.get_variable("w", [], use_resource=False).op.device == "/job:worker"

    def test_wrong_strategy(self):
        with pytest.raises(TypeError, match="ps_strategy must be callable"):
            tf.train.replica_device_setter(ps_tasks=1, ps_strategy=3)


class TestMerging:
    def test_inner_scopes_win(self):
        with tf.device(tf.train.replica_device_setter(cluster=CLUSTER)):
            with tf.device("/gpu:0"):
                assert tf.get_variable("a", []).device == "/job:ps/task:0/device:GPU:0"
                assert tf.constant(1.0).device == "/job:worker/device:GPU:0"
            with tf.device("/job:ps/task:1"):
                assert tf.get_variable("b", []).device == "/job:ps/task:1"

    def test_a_variable_elsewhere_takes_no_turn(self):
        with tf.device(tf.train.replica_device_setter(cluster=CLUSTER)):
            with tf.device("/job:worker"):
                assert tf.get_variable("a", []).device == "/job:worker"
            assert tf.get_variable("b", []).device == "/job:ps/task:0"

    def test_fields_of_the_setter_stay(self):
        setter = tf.train.replica_device_setter(
            cluster=CLUSTER, ps_device="/job:ps/cpu:0", worker_device="/job:worker/task:2/gpu:1"
        )
        with tf.device(setter):
            assert tf.get_variable("a", []).device == "/job:ps/task:0/device:CPU:0"
            assert tf.constant(1.0).device == "/job:worker/task:2/device:GPU:1"

    def test_without_merging_a_device_is_left_alone(self):
        setter = tf.train.replica_device_setter(cluster=CLUSTER, merge_devices=False)
        with tf.device(setter):
            with tf.device("/cpu:0"):
                assert tf.get_variable("a", []).device == "/device:CPU:0"
            assert tf.get_variable("b", []).device == "/job:ps/task:0"


class TestStrategies:
    def test_greedy_by_bytes(self):
        strategy = tf.contrib.training.GreedyLoadBalancingStrategy(
            2, tf.contrib.training.byte_size_load_fn
        )
        with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)):
            made = [tf.get_variable(f"v{i}", [n]) for i, n in enumerate((10, 4, 3, 5))]
        assert [v.device[-1] for v in made] == ["0", "1", "1", "1"]

    def test_handles_of_resource_variables_weigh_the_same(self):
        strategy = tf.contrib.training.GreedyLoadBalancingStrategy(
            2, tf.contrib.training.byte_size_load_fn
        )
        with tf.device(tf.train.replica_device_setter(ps_tasks=2, ps_strategy=strategy)):
            made = [
                tf.get_variable(f"v{i}", [n], use_resource=True) for i, n in enumerate((9, 4, 4))
            ]
        assert [v.device[-1] for v in made] == ["0", "1", "0"]  # as in TensorFlow

    def test_random_is_the_same_everywhere(self):
        def devices():
            strategy = tf.contrib.training.RandomStrategy(3, seed=7)
            with tf.Graph().as_default():
                return variables(12, ps_tasks=3, ps_strategy=strategy)[0]

        first = devices()
        assert first == devices() and len(set(first)) == 3
