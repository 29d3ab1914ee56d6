"""`weft devices`: where this process can run graphs, by TensorFlow's names."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from weft.core.device_name import short_name
from weft.core.printable import escaped
from weft.runtime.devices.device import local_devices


def show() -> None:
    """Prints a line for each device. Loads jax, which knows of the accelerators."""
    table = Table(box=None, pad_edge=False)
    for title in ("device", "memory", "hardware"):
        table.add_column(title, no_wrap=True)
    for device in local_devices():
        memory = f"{device.memory_limit / 2**30:.1f} GiB" if device.memory_limit else "unknown"
        table.add_row(short_name(device.name), memory, escaped(device.description or "host"))
    Console().print(table)
