"""`weft devices`: where this process can run graphs, by TensorFlow's names."""

from __future__ import annotations

from typing import Any

from weft.cli.terminal import print_while_read
from weft.core.device_name import short_name
from weft.core.printable import escaped
from weft.runtime.devices.device import local_devices

EXAMPLES = """\
  weft devices                          where graphs can run on this machine
"""


def add_parser(commands: Any) -> Any:
    return commands.add_parser(
        "devices",
        help="list the devices of this machine",
        description="Lists where graphs can run on this machine: the host, and what XLA sees.",
    )


@print_while_read
def run(arguments: Any) -> int:
    """Prints a line for each device. Loads jax, which knows of the accelerators."""
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in ("device", "memory", "hardware"):
        table.add_column(title, no_wrap=True)
    for device in local_devices():
        memory = f"{device.memory_limit / 2**30:.1f} GiB" if device.memory_limit else "unknown"
        table.add_row(short_name(device.name), memory, escaped(device.description or "host"))
    Console().print(table)
    return 0
