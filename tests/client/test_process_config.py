"""tf.config: settings of the process, for sessions without a ConfigProto."""

import pytest

import weft as tf
from weft.client import process_config

config = tf.config.experimental


@pytest.fixture(autouse=True)
def untouched(monkeypatch):
    monkeypatch.setattr(process_config, "settings", process_config.Settings())


@pytest.fixture
def cpu():
    return config.list_physical_devices("CPU")[0]


def session_devices(**kwargs):
    with tf.Graph().as_default(), tf.Session(**kwargs) as sess:
        return [d.name for d in sess.list_devices() if d.device_type == "CPU"]


def test_nothing_set_is_no_config():
    assert process_config.current() is None
    with tf.Graph().as_default(), tf.Session() as sess:
        assert sess._config is None


def test_virtual_hosts_are_devices_of_sessions(cpu):
    config.set_virtual_device_configuration(cpu, [config.VirtualDeviceConfiguration()] * 2)
    name = "/job:localhost/replica:0/task:0/device:CPU:"
    assert session_devices() == [name + "0", name + "1"]
    assert [d.name for d in config.list_logical_devices("CPU")] == [
        "/device:CPU:0",
        "/device:CPU:1",
    ]
    assert tf.config.experimental_list_devices()[:2] == [name + "0", name + "1"]
    assert session_devices(config=tf.ConfigProto()) == [name + "0"]


def test_devices_stay_once_they_were_listed(cpu):
    config.list_logical_devices()
    config.set_visible_devices(config.get_visible_devices())  # no change
    with pytest.raises(RuntimeError, match="Virtual devices cannot be modified after being init"):
        config.set_virtual_device_configuration(cpu, [config.VirtualDeviceConfiguration()] * 2)
    with pytest.raises(RuntimeError, match="Visible devices cannot be modified"):
        config.set_visible_devices([], "CPU")
    with pytest.raises(RuntimeError, match="Inter op parallelism cannot be modified"):
        tf.config.threading.set_inter_op_parallelism_threads(3)


def test_what_cannot_be(cpu):
    with pytest.raises(ValueError, match="Unrecognized device: 'nothing'"):
        config.set_visible_devices("nothing")
    with pytest.raises(ValueError, match="Unrecognized device"):
        config.set_visible_devices([cpu], "GPU")
    with pytest.raises(ValueError, match="memory growth on non-GPU"):
        config.set_memory_growth(cpu, True)
    with pytest.raises(ValueError, match="memory limit on CPU virtual devices"):
        limited = config.VirtualDeviceConfiguration(memory_limit=100)
        config.set_virtual_device_configuration(cpu, [limited])
    with pytest.raises(ValueError, match="Not a valid device policy: brave"):
        config.set_device_policy("brave")
    with pytest.raises(ValueError, match="Unknown optimizer option: magic"):
        tf.config.optimizer.set_experimental_options({"magic": True})


def test_settings_reach_the_proto():
    tf.config.set_soft_device_placement(True)
    tf.config.threading.set_intra_op_parallelism_threads(2)
    tf.config.optimizer.set_experimental_options({"constant_folding": False})
    tf.config.optimizer.set_jit(True)
    tf.debugging.set_log_device_placement(True)
    proto = process_config.current()
    assert proto.allow_soft_placement
    assert proto.log_device_placement and tf.debugging.get_log_device_placement()
    assert proto.intra_op_parallelism_threads == 2
    rewrites = proto.graph_options.rewrite_options
    assert rewrites.constant_folding == rewrites.OFF
    assert tf.config.optimizer.get_experimental_options()["constant_folding"] is False
    assert tf.config.get_soft_device_placement() and tf.config.optimizer.get_jit()
    with tf.Graph().as_default(), tf.device("/gpu:7"):
        doubled = tf.constant([1.0, 2.0]) * 2.0
        with tf.Session() as sess:
            assert sess.run(doubled).tolist() == [2.0, 4.0]
