"""`tf.config`: what sessions of this process use that are given no ConfigProto of their own."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from weft.core import flags
from weft.runtime.devices.device import LOCAL, accelerators, local_devices

_TOGGLES = (
    "layout_optimizer", "constant_folding", "shape_optimization", "remapping",
    "arithmetic_optimization", "dependency_optimization", "loop_optimization",
    "function_optimization", "debug_stripper", "scoped_allocator_optimization",
    "pin_to_host_optimization", "implementation_selector", "auto_mixed_precision",
)  # fmt: skip
_SWITCHES = ("disable_model_pruning", "disable_meta_optimizer")
_POLICIES = ("silent", "silent_for_int32", "warn", "explicit")


class PhysicalDevice(namedtuple("PhysicalDevice", ("name", "device_type"))):
    """A device that XLA sees."""

    __slots__ = ()


class LogicalDevice(namedtuple("LogicalDevice", ("name", "device_type"))):
    """A device that operations can be placed on: a physical one, or a part of it."""

    __slots__ = ()


class VirtualDeviceConfiguration(
    namedtuple("VirtualDeviceConfiguration", ("memory_limit",), defaults=(None,))
):
    """A logical device to make of a physical one, with at most so many megabytes."""

    __slots__ = ()


class Settings:
    """The process's settings. Devices cannot be changed once the logical ones were listed."""

    def __init__(self) -> None:
        self.changed = False
        self.policy = "silent"
        self.synchronous = True
        self.visible: list[PhysicalDevice] | None = None
        self.growth: dict[PhysicalDevice, bool] = {}
        self.virtual: dict[PhysicalDevice, list[VirtualDeviceConfiguration]] = {}
        self.logical: list[LogicalDevice] | None = None
        self.options: dict[str, Any] = {}
        self.jit = False
        self.half_precision = False  # also where a session has a ConfigProto of its own
        self.soft_placement = False
        self.log_placement = False
        self.threads = {"intra": 0, "inter": 0}

    def change_devices(self, subject: str) -> None:
        if self.logical is not None:
            raise RuntimeError(f"{subject} cannot be modified after being initialized")
        self.changed = True


settings = Settings()


def current() -> Any:
    """The ConfigProto that all of this amounts to, None when nothing was ever set."""
    return _proto() if settings.changed else None


def softly_placed() -> Any:
    """The same, where a device that is not there is replaced by another: for Keras's sessions."""
    from tensorboard.compat.proto.config_pb2 import ConfigProto

    config = current() or ConfigProto()
    config.allow_soft_placement = True
    return config


def config_for(given: Any) -> Any:
    """The ConfigProto of a session that was given one, or None."""
    config = given if given is not None else current()
    if not settings.half_precision:
        return config
    from tensorboard.compat.proto.config_pb2 import ConfigProto

    changed = (
        ConfigProto() if config is None else ConfigProto.FromString(config.SerializeToString())
    )
    rewrites = changed.graph_options.rewrite_options
    if rewrites.auto_mixed_precision != rewrites.OFF:
        rewrites.auto_mixed_precision = rewrites.ON
    return changed


def _proto() -> Any:
    from tensorboard.compat.proto.config_pb2 import ConfigProto

    config = ConfigProto(
        allow_soft_placement=settings.soft_placement,
        log_device_placement=settings.log_placement,
        intra_op_parallelism_threads=settings.threads["intra"],
        inter_op_parallelism_threads=settings.threads["inter"],
    )
    if settings.jit:
        level = config.graph_options.optimizer_options
        level.global_jit_level = level.ON_1
    rewrites = config.graph_options.rewrite_options
    for name, value in settings.options.items():
        if name in _TOGGLES:
            value = rewrites.ON if value else rewrites.OFF
        setattr(rewrites, name, value)
    _describe_devices(config)
    return config


def _describe_devices(config: Any) -> None:
    shown = get_visible_devices()
    cpus = [d for d in shown if d.device_type == "CPU"]
    config.device_count["CPU"] = sum(len(settings.virtual.get(d, [None])) for d in cpus)
    gpus = list_physical_devices("GPU")
    chosen = [d for d in shown if d.device_type == "GPU"]
    options = config.gpu_options
    if chosen != gpus:
        options.visible_device_list = ",".join(str(gpus.index(d)) for d in chosen)
        if not chosen:
            config.device_count["GPU"] = 0
    if any(d in settings.virtual for d in chosen):
        for device in chosen:
            limits = [v.memory_limit for v in settings.virtual.get(device, [])]
            options.experimental.virtual_devices.add(memory_limit_mb=limits)
    options.allow_growth = any(settings.growth.get(d) for d in chosen)


# ---- devices ----


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices this process could use, known without using them."""
    found = [PhysicalDevice("/physical_device:CPU:0", "CPU")]
    numbers: dict[str, int] = {}
    for kind, _ in accelerators():
        numbers[kind] = numbers.get(kind, -1) + 1
        found.append(PhysicalDevice(f"/physical_device:{kind}:{numbers[kind]}", kind))
    return _of_type(found, device_type)


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices operations can be placed on. From here on they stay as they are."""
    if settings.logical is None:
        devices = local_devices(_proto())
        settings.logical = [
            LogicalDevice(d.name.removeprefix(LOCAL), d.device_type) for d in devices
        ]
    return _of_type(settings.logical, device_type)


def experimental_list_devices() -> list[str]:
    """The full names of the logical devices."""
    return [LOCAL + device.name for device in list_logical_devices()]


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The physical devices that are in use."""
    shown = list_physical_devices() if settings.visible is None else settings.visible
    return _of_type(shown, device_type)


def set_visible_devices(devices: Any, device_type: str | None = None) -> None:
    """Uses only these physical devices (of that type)."""
    devices = devices if isinstance(devices, list) else [devices]
    for device in devices:
        _known(device)
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r}")
    before = get_visible_devices()
    kept = [d for d in before if device_type is not None and d.device_type != device_type]
    if kept + devices != before:
        settings.change_devices("Visible devices")
        settings.visible = kept + devices


def get_memory_growth(device: PhysicalDevice) -> bool | None:
    """Whether the memory of a GPU is taken as it is needed; None if that was not set."""
    _known(device)
    if device.device_type != "GPU":
        raise ValueError("Cannot query memory growth on non-GPU devices")
    return settings.growth.get(device)


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Takes the memory of a GPU as it is needed, not at once."""
    _known(device)
    if device in settings.virtual:
        raise ValueError("Cannot set memory growth on device when virtual devices configured")
    if device.device_type != "GPU":
        raise ValueError("Cannot set memory growth on non-GPU devices")
    if settings.growth.get(device) != enable:
        settings.change_devices("Physical devices")
        settings.growth[device] = enable


def get_virtual_device_configuration(device: PhysicalDevice) -> Any:
    """The logical devices a physical one was divided into; None when it was not."""
    return settings.virtual.get(_known(device))


def set_virtual_device_configuration(device: PhysicalDevice, virtual_devices: Any) -> None:
    """Makes several logical devices of a physical one."""
    kind = _known(device).device_type
    if kind not in ("CPU", "GPU"):
        raise ValueError(f"Virtual devices are not supported for {kind}")
    for virtual in virtual_devices:
        if kind == "CPU" and virtual.memory_limit is not None:
            raise ValueError(
                "Setting memory limit on CPU virtual devices is currently not supported"
            )
        if kind == "GPU" and virtual.memory_limit is None:
            raise ValueError("Setting memory limit is required for GPU virtual devices is")
    if settings.virtual.get(device) != virtual_devices:
        settings.change_devices("Virtual devices")
        settings.virtual[device] = virtual_devices


def _known(device: Any) -> PhysicalDevice:
    if device not in list_physical_devices():
        raise ValueError(f"Unrecognized device: {device!r}")
    found: PhysicalDevice = device
    return found


def _of_type(devices: list[Any], device_type: str | None) -> list[Any]:
    return [d for d in devices if device_type in (None, d.device_type)]


# ---- how steps are run ----


def get_soft_device_placement() -> bool:
    """Whether a node whose device cannot run it goes elsewhere."""
    return settings.soft_placement


def set_soft_device_placement(enabled: bool) -> None:
    """Lets a node whose device cannot run it go elsewhere."""
    settings.soft_placement, settings.changed = enabled, True


def get_log_device_placement() -> bool:
    """Whether sessions say where they put every node."""
    return settings.log_placement


def set_log_device_placement(enabled: bool) -> None:
    """Lets sessions say where they put every node."""
    settings.log_placement, settings.changed = enabled, True


def get_device_policy() -> str:
    """The policy for inputs that lie on another device; a session always copies them."""
    return settings.policy


def set_device_policy(device_policy: str | None) -> None:
    """Accepted for programs that set it; a session always copies what lies elsewhere."""
    if device_policy is not None and device_policy not in _POLICIES:
        raise ValueError(f"Not a valid device policy: {device_policy}")
    settings.policy = device_policy or "silent"


def get_synchronous_execution() -> bool:
    """Whether eager operations would be waited for. Steps of a session always are."""
    return settings.synchronous


def set_synchronous_execution(enable: bool | None) -> None:
    """Accepted for programs that set it; it speaks of eager operations."""
    settings.synchronous = enable is None or enable


def get_jit() -> bool:
    """Whether compilation was asked for. weft compiles in any case."""
    return settings.jit


def set_jit(enabled: bool) -> None:
    """Asks for compilation, which weft does in any case."""
    settings.jit, settings.changed = bool(enabled), True


def get_experimental_options() -> dict[str, Any]:
    """The switches of graph optimizations, by name."""
    return dict.fromkeys(_SWITCHES, False) | settings.options


def set_experimental_options(options: dict[str, Any]) -> None:
    """Turns optimizations of graphs on and off."""
    for name in options:
        if name not in (*_TOGGLES, *_SWITCHES, "min_graph_nodes"):
            raise ValueError(f"Unknown optimizer option: {name}")
    settings.options.update(options)
    settings.changed = True


def get_intra_op_parallelism_threads() -> int:
    """How many threads one operation may use; 0 for as many as there are cores."""
    return settings.threads["intra"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets how many threads one operation may use."""
    _set_threads("intra", num_threads)


def get_inter_op_parallelism_threads() -> int:
    """How many operations may run at once; 0 for as many as there are cores."""
    return settings.threads["inter"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Sets how many operations may run at once."""
    _set_threads("inter", num_threads)


def _set_threads(which: str, count: int) -> None:
    if settings.threads[which] != count:
        if settings.logical is not None:
            raise RuntimeError(
                f"{which.title()} op parallelism cannot be modified after initialization."
            )
        settings.threads[which], settings.changed = count, True


def enable_tensor_float_32_execution(enabled: bool) -> None:
    """Whether GPUs that can multiply 32-bit floats as TensorFloat-32, in what is compiled next."""
    flags.TENSOR_FLOAT_32.value = bool(enabled)


def tensor_float_32_execution_enabled() -> bool:
    """Whether matrix products on GPUs may round their factors to 19 bits."""
    return flags.TENSOR_FLOAT_32.value
