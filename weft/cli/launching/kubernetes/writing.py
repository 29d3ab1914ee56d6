"""Manifests as text, and as a folder for kustomize."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from weft.cli.launching.kubernetes.settings import Settings
from weft.cli.launching.request import LaunchError


def as_json(objects: Sequence[dict[str, Any]]) -> str:
    """One List, as kubectl prints it."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)}, indent=2) + "\n"


def as_yaml(objects: Sequence[dict[str, Any]]) -> str:
    """A stream of documents; texts of several lines are written as such."""
    try:
        import yaml
    except ImportError:
        raise LaunchError("YAML needs PyYAML: pip install 'weft[kubernetes]', or -o json") from None

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    def text(dumper: Any, value: str) -> Any:
        style = "|" if "\n" in value else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)

    Dumper.add_representer(str, text)
    return str(yaml.dump_all(objects, Dumper=Dumper, sort_keys=False, width=100))


def write_folder(settings: Settings, objects: Sequence[dict[str, Any]], folder: str | None) -> None:
    """Every object in a file, and a kustomization that names them all."""
    root = Path(folder or settings.name)
    root.mkdir(parents=True, exist_ok=True)
    files = {f"{_file_name(settings, each)}.yaml": each for each in objects}
    for name, each in files.items():
        (root / name).write_text(as_yaml([each]))
    (root / "kustomization.yaml").write_text(as_yaml([_kustomization(settings, list(files))]))
    if settings.source is not None:
        shutil.copyfile(settings.source, root / settings.source.name)
    for key, path in settings.files.items():
        _copy_secret(path, root / "secrets" / key)


def _file_name(settings: Settings, each: dict[str, Any]) -> str:
    """The kind of an object, and what its name has besides the run's."""
    suffix = str(each["metadata"]["name"]).removeprefix(settings.name)
    return each["kind"].lower() + suffix


def _kustomization(settings: Settings, files: list[str]) -> dict[str, Any]:
    """Names get no hashes: a custom resource would not learn of them."""
    made: dict[str, Any] = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": files,
        "generatorOptions": {"disableNameSuffixHash": True, "labels": settings.labels},
    }
    if settings.namespace:
        made["namespace"] = settings.namespace
    if settings.source is not None:
        generated = {"name": f"{settings.name}-program", "files": [settings.source.name]}
        made["configMapGenerator"] = [generated]
    if settings.files:
        files = [f"secrets/{key}" for key in settings.files]
        made["secretGenerator"] = [{"name": settings.secret, "files": files}]
    return made


def _copy_secret(source: Path, target: Path) -> None:
    """A copy that only its owner reads."""
    target.parent.mkdir(mode=0o700, exist_ok=True)
    target.unlink(missing_ok=True)
    with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(source.read_bytes())
