"""Recording a server by its page: one of `weft server --status`, or of a model server."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from weft.cluster.guard.security import Identity
from weft.core import errors
from weft.traces import files

_PATIENCE = 60.0


def record_page(
    target: str, identity: Identity, steps: int, seconds: float, operations: bool
) -> dict[str, Any]:
    """The trace that the server at `target` makes of its next steps."""
    query = urllib.parse.urlencode({"steps": steps, "seconds": seconds, "ops": int(operations)})
    request = urllib.request.Request(f"{target.rstrip('/')}/trace?{query}", method="POST")
    for name, value in identity.metadata or ():
        request.add_header(name, value)
    context = identity.context() if target.startswith("https") else None
    try:
        with urllib.request.urlopen(request, timeout=seconds + _PATIENCE, context=context) as found:
            return files.from_bytes(found.read())
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace").strip()
        raise errors.UnavailableError(None, None, f"{target}: {error.code} {text}") from None
    except (OSError, ssl.SSLError) as error:
        raise errors.UnavailableError(None, None, f"{target}: {error}") from None
