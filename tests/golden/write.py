"""Rewrites the golden files from the present code: `python -m tests.golden.write`."""

from __future__ import annotations

import weft  # noqa: F401  (registers every op)
from tests.golden import signatures


def main() -> None:
    signatures.GOLDEN.write_text("\n".join(signatures.registered().values()) + "\n")


if __name__ == "__main__":
    main()
