"""Names of `tensorflow.python.saved_model.nested_structure_coder`."""

from __future__ import annotations

from typing import Any

from weft.lib.saved_model import structure


class StructureCoder:
    """Nested structures of specs and plain values as messages, and back."""

    def encode_structure(self, nested_structure: Any) -> Any:
        """The message of a structure."""
        return structure.encode(nested_structure)

    def can_encode(self, nested_structure: Any) -> bool:
        """Whether there is a message for it."""
        try:
            structure.encode(nested_structure)
        except structure.NotEncodableError:
            return False
        return True

    def decode_proto(self, proto: Any) -> Any:
        """The structure of a message."""
        return structure.decode(proto)
