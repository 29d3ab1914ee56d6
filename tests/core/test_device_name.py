from types import SimpleNamespace

import pytest

from weft.core import device_name
from weft.core.device_name import DeviceSpec


@pytest.mark.parametrize(
    ("given", "canonical"),
    [
        ("", ""),
        ("/", ""),
        ("/job:a/replica:0/task:1/device:GPU:0", "/job:a/replica:0/task:1/device:GPU:0"),
        ("/replica:1/task:0/cpu:0", "/replica:1/task:0/device:CPU:0"),
        ("gpu:1", "/device:GPU:1"),
        ("/GPU", "/device:GPU:*"),
        ("/cpu:*", "/device:CPU:*"),
        ("/device:gpu:3", "/device:GPU:3"),
        ("/job:muu/device:MyFunnyDevice:2", "/job:muu/device:MyFunnyDevice:2"),
        ("/device:GPU:0/job:a", "/job:a/device:GPU:0"),
        ("/job:*/task:*/cpu:0", "/device:CPU:0"),
    ],
)
def test_canonical_name(given, canonical):
    assert device_name.canonical_name(given) == canonical
    assert DeviceSpec.from_string(given).to_string() == canonical
    assert device_name.canonical_name(canonical) == canonical


def test_canonical_name_of_other_things():
    assert device_name.canonical_name(None) == ""
    assert device_name.canonical_name(DeviceSpec(job="ps", task=2)) == "/job:ps/task:2"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/job:a/foo:1", "Unknown attribute: 'foo' in '/job:a/foo:1'"),
        ("/device:GPU", "Unknown attribute: 'device'"),
        ("/job:muu/device:GPU:2/cpu:0", "Cannot specify multiple device types: /job:muu/"),
        ("/task:x", "'x' in '/task:x'"),
        ("/gpu:first", "'first' in '/gpu:first'"),
        ("nonsense", "Unknown attribute: 'nonsense'"),
    ],
)
def test_unreadable_names(name, message):
    with pytest.raises(ValueError, match=message):
        DeviceSpec.from_string(name)


def test_spec_fields():
    spec = DeviceSpec(job="j", replica=0, task="1", device_type="cpu", device_index=2)
    assert (spec.job, spec.replica, spec.task) == ("j", 0, 1)
    assert (spec.device_type, spec.device_index) == ("CPU", 2)
    assert DeviceSpec().to_string() == "" and DeviceSpec(device_index=1).to_string() == ""
    assert DeviceSpec(device_type="GPU").to_string() == "/device:GPU:*"
    assert repr(DeviceSpec(job="ps", task=1)) == "DeviceSpec(job='ps', task=1)"


def test_spec_is_mutable():
    spec = DeviceSpec()
    spec.job = "foo"
    spec.task = 3
    spec.device_type = "gpu"
    spec.device_index = "0"
    assert spec.to_string() == "/job:foo/task:3/device:GPU:0"
    spec.task, spec.replica, spec.device_type, spec.device_index = None, 12, None, None
    assert spec.to_string() == "/job:foo/replica:12"
    assert spec.parse_from_string("/cpu:1") is spec and spec.to_string() == "/device:CPU:1"
    spec.merge_from(DeviceSpec.from_string("/job:a/gpu:0"))
    assert spec.to_string() == "/job:a/device:GPU:0"


def test_merging_and_replacing_make_new_specs():
    spec = DeviceSpec.from_string("/job:foo/cpu:0")
    merged = spec.make_merged_spec(DeviceSpec.from_string("/task:1/device:GPU:2"))
    assert merged.to_string() == "/job:foo/task:1/device:GPU:2"
    assert spec.replace(task=4, job=None).to_string() == "/task:4/device:CPU:0"
    assert spec.to_string() == "/job:foo/device:CPU:0"


def test_equality():
    assert DeviceSpec.from_string("/gpu:0") == DeviceSpec(device_type="GPU", device_index=0)
    assert DeviceSpec() != "" and DeviceSpec(job="a") != DeviceSpec(job="b")
    assert len({DeviceSpec(job="a"), DeviceSpec.from_string("/job:a")}) == 1


def test_merge_strings():
    assert device_name.merge("/job:a/cpu:0", "/gpu:1") == "/job:a/device:GPU:1"
    assert device_name.merge("/gpu:1", "/gpu:*") == "/device:GPU:1"
    assert device_name.merge("", "") == ""


def test_merge_device():
    node = SimpleNamespace(device="/gpu:0")
    fill = device_name.merge_device("/job:worker/cpu:3")
    assert fill.string_merge(node) == "/job:worker/device:GPU:0"
    assert fill(node) == DeviceSpec.from_string("/job:worker/device:GPU:0")
    assert device_name.merge_device("/job:worker/device:CPU:3") is fill
    assert device_name.merge_device(fill) is fill
    assert device_name.merge_device("").is_null_merge and not fill.is_null_merge
    with pytest.raises(ValueError, match="Unknown attribute"):
        device_name.merge_device("/what:0")


def test_merge_device_reads_a_spec_at_once():
    spec = DeviceSpec(job="a")
    fill = device_name.merge_device(spec)
    spec.job = "b"
    assert fill.string_merge(SimpleNamespace(device="")) == "/job:a"


def test_matching():
    full = "/job:a/replica:0/task:1/device:GPU:0"
    for partial in ("", "/job:a", "/gpu:*", "/gpu:0", "/task:1/device:GPU:0", full):
        assert device_name.matches(partial, full)
    for partial in ("/job:b", "/gpu:1", "/cpu:0", "/task:0"):
        assert not device_name.matches(partial, full)
    assert not device_name.matches(full, "/job:a")
    assert device_name.is_compatible("/job:a", "/gpu:0")
    assert not device_name.is_compatible("/job:a/gpu:0", "/gpu:1")
