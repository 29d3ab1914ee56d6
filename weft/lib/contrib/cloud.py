"""tf.contrib.cloud: how files of Google's Cloud Storage are reached, and services beside it.

Paths such as `gs://bucket/file` go by fsspec, so that is what is configured: in this process, at
once. Operations on a server elsewhere keep that server's settings.
"""

from __future__ import annotations

import json
import os
from typing import Any

from weft.lib.contrib.bigtable import BigtableClient as BigtableClient
from weft.lib.contrib.bigtable import BigtableTable as BigtableTable
from weft.lib.contrib.services import Service as _Service
from weft.lib.train.sessions.session_run_hook import SessionRunHook as _Hook

__all__ = [
    "BigQueryReader",
    "BigtableClient",
    "BigtableTable",
    "BlockCacheParams",
    "ConfigureGcsHook",
    "configure_colab_session",
    "configure_gcs",
]
_BLOCK = 128 * 1024 * 1024
_COLAB = "/content/adc.json"


class BigQueryReader(_Service):
    """Rows of a BigQuery table, of which this build has no client."""

    name = "BigQuery"


class BlockCacheParams:
    """How much of files is read ahead and kept, in bytes, and for how many seconds."""

    def __init__(
        self, block_size: Any = None, max_bytes: Any = None, max_staleness: Any = None
    ) -> None:
        self.block_size: int = block_size or _BLOCK
        self.max_bytes: int = max_bytes or 2 * self.block_size
        self.max_staleness: int = max_staleness or 0


def _checked(credentials: Any) -> dict[str, Any] | None:
    """Credentials as a dictionary, out of one or out of JSON."""
    match credentials:
        case None:
            return None
        case str():
            try:
                found = json.loads(credentials)
            except ValueError as error:
                raise ValueError("credentials was not a well formed JSON string.", error) from None
        case dict():
            found = credentials
        case _:
            raise ValueError("credentials is of an unknown type")
    if not {"refresh_token", "private_key"} & set(found):
        raise ValueError('credentials has neither a "refresh_token" nor a "private_key" field.')
    return dict(found)


def _configure(credentials: dict[str, Any] | None, block_cache: Any) -> None:
    import fsspec

    settings = fsspec.config.conf.setdefault("gcs", {})
    if credentials:
        settings["token"] = credentials
    if block_cache:
        settings["default_block_size"] = block_cache.block_size
    if credentials or block_cache:
        fsspec.AbstractFileSystem.clear_instance_cache()


class ConfigureGcsHook(_Hook):
    """Configures Cloud Storage when a session is made."""

    def __init__(self, credentials: Any = None, block_cache: Any = None) -> None:
        self._credentials = _checked(credentials)
        if block_cache and not isinstance(block_cache, BlockCacheParams):
            raise ValueError("block_cache must be an instance of BlockCacheParams.")
        self._block_cache = block_cache

    def after_create_session(self, session: Any, coord: Any) -> None:
        """Hands the settings on."""
        _configure(self._credentials, self._block_cache)


def configure_gcs(
    session: Any, credentials: Any = None, block_cache: Any = None, device: Any = None
) -> None:
    """Configures Cloud Storage: `credentials` are a dictionary or its JSON."""
    given = json.loads(credentials) if isinstance(credentials, str) and credentials else credentials
    _configure(given or None, block_cache)


def configure_colab_session(session: Any) -> None:
    """`configure_gcs` with the credentials of a Colab notebook, or of Google's variable."""
    path = os.environ.get("GOOGLE_APPLICATION_CREDENTIALS", _COLAB)
    with open(path) as file:
        configure_gcs(session, json.load(file))
