"""A request in the words of Kubernetes."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from weft.cli.launching.request import LaunchError, Request
from weft.core import flags

PROGRAM_FOLDER = "/program"  # where the ConfigMap of the program is
SECRET_FOLDER = "/etc/weft"
# The switch that names each file of a Secret, by its key there.
SECRET_SWITCHES = {
    "tls.crt": flags.TLS_CERT.name,
    "tls.key": flags.TLS_KEY.name,
    "ca.crt": flags.TLS_CA.name,
    "token": flags.TOKEN_FILE.name,
}
_LONGEST_NAME = 40  # a pod's name has its job and number besides, and must not exceed 63
_LARGEST_PROGRAM = 1_000_000  # bytes: a ConfigMap takes a little more


@dataclass(frozen=True)
class Settings:
    """What manifests are made of. `files` are the contents of a Secret that is to be written, by
    key; `secret_keys` are those of any Secret. `source` is the file of the program, if it goes
    along."""

    request: Request
    image: str
    name: str
    form: str = "plain"
    namespace: str = ""
    port: int = 2222
    memory: str = ""
    claim: str = ""
    secret: str = ""
    secret_keys: tuple[str, ...] = ()
    files: Mapping[str, Path] = field(default_factory=dict)
    source: Path | None = None

    @property
    def labels(self) -> dict[str, str]:
        """Labels by which everything of this run is found."""
        return {"app.kubernetes.io/name": "weft", "app.kubernetes.io/instance": self.name}

    @property
    def arguments(self) -> list[str]:
        """The arguments of `weft` in a task."""
        given = self.request.run_arguments()
        if self.source is not None:
            at = given.index(self.request.program)
            given[at] = f"{PROGRAM_FOLDER}/{self.source.name}"
        return given

    @property
    def environment(self) -> dict[str, str]:
        """Variables of every task; files of secrets are where the Secret is mounted."""
        files = SECRET_SWITCHES.values()
        kept = {name: v for name, v in self.request.environment.items() if name not in files}
        kept |= {SECRET_SWITCHES[key]: f"{SECRET_FOLDER}/{key}" for key in self.secret_keys}
        return {"HOME": "/tmp", "PYTHONUNBUFFERED": "1", **kept}

    @property
    def gpus(self) -> int:
        return int(self.request.gpus)

    def metadata(self, suffix: str = "") -> dict[str, Any]:
        """The metadata of an object of this run."""
        made: dict[str, Any] = {"name": self.name + suffix, "labels": self.labels}
        return {**made, "namespace": self.namespace} if self.namespace else made


def settings_of(request: Request, options: Mapping[str, Any]) -> Settings:
    """The settings that options ask for. `LaunchError` if they make no sense."""
    if "image" not in options:
        raise LaunchError("--engine kubernetes needs --image")
    if request.gpus != int(request.gpus):
        raise LaunchError(f"--gpus {request.gpus:g}: Kubernetes gives out whole GPUs")
    name = _checked_name(options.get("name") or _name_of(request.program))
    taken = ("form", "namespace", "port", "memory", "claim")
    given = {each: options[each] for each in taken if each in options}
    secret, keys, files = _secret(request, options.get("secret", ""), name)
    return Settings(
        request, options["image"], name, **given, secret=secret, secret_keys=keys, files=files,
        source=None if options.get("in_image") or request.is_module else _source(request),
    )  # fmt: skip


def _name_of(program: str) -> str:
    """A program's name as Kubernetes takes it."""
    stem = os.path.splitext(os.path.basename(program))[0].lower()
    return re.sub(r"[^a-z0-9]+", "-", stem).strip("-")[:_LONGEST_NAME].rstrip("-") or "weft"


def _checked_name(name: str) -> str:
    if len(name) > _LONGEST_NAME or not re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name):
        raise LaunchError(
            f"{name!r} is no name for objects of Kubernetes: --name with lower-case letters,"
            f" numbers and dashes, {_LONGEST_NAME} at most, a letter first"
        )
    return name


def _secret(request: Request, said: str, name: str) -> tuple[str, tuple[str, ...], dict[str, Path]]:
    """The name of the Secret, its keys, and the files it is to be written from."""
    files = {
        key: Path(request.environment[switch])
        for key, switch in SECRET_SWITCHES.items()
        if switch in request.environment
    }
    if not said:
        if missing := [str(path) for path in files.values() if not path.exists()]:
            raise LaunchError(f"cannot open {missing[0]!r}")
        return f"{name}-secret" if files else "", tuple(files), files
    if files:
        raise LaunchError("--secret names a Secret that exists: leave the files out")
    secret, _, keys = said.partition("=")
    chosen = tuple(keys.split(",")) if keys else ("token",)
    if unknown := [key for key in chosen if key not in SECRET_SWITCHES]:
        raise LaunchError(f"--secret: {unknown[0]!r} is none of {', '.join(SECRET_SWITCHES)}")
    return secret, chosen, {}


def _source(request: Request) -> Path:
    """The program's file, which goes along."""
    request.check_program()
    path = Path(request.program)
    if path.stat().st_size > _LARGEST_PROGRAM:
        raise LaunchError(f"{request.program} is too large to go along: --in-image")
    return path
