"""Parts of tf.contrib that are nothing without a service elsewhere, which weft has no client of.

TensorFlow's own packages lack most of these too. What cannot work says so, and how to do without.
"""

from __future__ import annotations

from typing import Any, NoReturn

from weft.core.errors import UnimplementedError


class Service:
    """A class of tf.contrib that reads from a service; it cannot be made."""

    name = "a service"
    instead = "tf.data.Dataset.from_generator over a client of the service's"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        refuse(type(self).__name__, self.name, self.instead)


def refuse(what: str, service: str, instead: str) -> NoReturn:
    """UnimplementedError that says what there is instead."""
    raise UnimplementedError(
        None, None, f"{what} needs {service}, which this build has no client of: use {instead}."
    )
