"""Manifests of `weft launch --engine kubernetes`, held against published schemas.

Those of Kubernetes come with the package kubernetes-validate, those of Kubeflow's operator with
kubeflow-training, whose classes say which fields there are and of what types.
"""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from weft.cli.launching.kubernetes import objects_of
from weft.cli.launching.kubernetes.pods import INDEX, WAIT_FOR_NAME
from weft.cli.launching.kubernetes.settings import settings_of
from weft.cli.launching.request import Request
from weft.cli.main import main
from weft.core.processes import place

VERSIONS = ("1.33", "1.35", "1.37")
WORKERS_ONLY = {"worker": 3, "ps": 0}
# Name -> the request, and the options: every form, with and without each thing that is optional.
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "smallest": ({"counts": {"worker": 1}}, {"in_image": True}),
    "usual": ({"gpus": 2.0, "cpus": 0.5}, {"memory": "4Gi", "claim": "shared", "namespace": "ml"}),
    "all jobs": ({"counts": {"chief": 1, "worker": 2, "ps": 2}, "evaluator": True}, {}),
    "secret that exists": ({}, {"secret": "mine=token,tls.crt,tls.key,ca.crt"}),
    "tfjob": ({"counts": {"chief": 1, "worker": 2, "ps": 2}, "evaluator": True, "gpus": 1.0}, {}),
    "pytorchjob": ({"counts": WORKERS_ONLY}, {"claim": "shared"}),
    "jaxjob": ({"counts": WORKERS_ONLY}, {"port": 6666}),
}


def made(name: str, folder: Path, **more: Any) -> list[dict[str, Any]]:
    """The objects of a case."""
    request, options = CASES[name]
    program = folder / "train.py"
    program.write_text("print('$(HOME)')\n")
    form = name if name.endswith("job") else "plain"
    options = {"image": "registry/weft:1", "form": form, **options, **more}
    return objects_of(settings_of(Request(str(program), ["--n", "{task}"], **request), options))


def find(objects: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(each for each in objects if each["kind"] == kind)


# ---- schemas -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", CASES)
def test_manifests_are_as_the_schemas_say(tmp_path: Path, name: str, version: str) -> None:
    schemas = pytest.importorskip("kubernetes_validate", reason="weft[schemas] is not installed")
    for each in made(name, tmp_path):
        for part in [each] if "kubeflow" not in each["apiVersion"] else templates(each):
            schemas.validate(part, version, strict=True)


def templates(custom: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The pods of a custom resource, as objects of Kubernetes itself."""
    (replicas,) = [value for name, value in custom["spec"].items() if name.endswith("Specs")]
    for replica in replicas.values():
        yield {"apiVersion": "v1", "kind": "PodTemplate", "template": replica["template"]}


def test_the_schemas_are_looked_at(tmp_path: Path) -> None:
    schemas = pytest.importorskip("kubernetes_validate", reason="weft[schemas] is not installed")
    job = find(made("usual", tmp_path), "Job")
    job["spec"]["template"]["spec"]["containers"][0]["imagee"] = "x"
    with pytest.raises(schemas.ValidationError):
        schemas.validate(job, VERSIONS[0], strict=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::SyntaxWarning")
@pytest.mark.parametrize("name", [name for name in CASES if name.endswith("job")])
def test_custom_resources_are_as_the_operators_types_say(tmp_path: Path, name: str) -> None:
    models = pytest.importorskip(
        "kubeflow.training.models", reason="weft[schemas] is not installed"
    )
    custom = made(name, tmp_path)[-1]
    check_type(models, f"KubeflowOrgV1{custom['kind']}", custom)
    custom["spec"]["runPolicy"]["cleanPodPolicies"] = "All"
    with pytest.raises(AssertionError, match="cleanPodPolicies"):
        check_type(models, f"KubeflowOrgV1{custom['kind']}", custom)


def check_type(models: Any, type_name: str, value: Any) -> None:
    """Every field is one of the type's, and of its type. Kubernetes's own types are looked at by
    `test_manifests_are_as_the_schemas_say`."""
    simple = {"str": str, "int": int, "bool": bool}
    if type_name in simple:
        assert isinstance(value, simple[type_name]), (type_name, value)
    elif found := re.fullmatch(r"dict\(str, (\w+)\)", type_name):
        for each in value.values():
            check_type(models, found[1], each)
    elif type_name.startswith("Kubeflow"):
        model = getattr(models, type_name)
        fields = {model.attribute_map[name]: kind for name, kind in model.openapi_types.items()}
        assert not set(value) - set(fields), set(value) - set(fields)
        for name, each in value.items():
            check_type(models, fields[name], each)


# ---- what a schema does not say ------------------------------------------------------------------


def expanded(text: str, variables: dict[str, str]) -> str:
    """A text as Kubernetes expands it: `$(NAME)`, and `$$(` for a plain one."""
    known = re.sub(r"(?<!\$)\$\((\w+)\)", lambda match: variables.get(match[1], match[0]), text)
    return known.replace("$$(", "$(")


@pytest.mark.parametrize(("kind", "job"), [("StatefulSet", "ps"), ("Job", "worker")])
def test_every_pod_finds_its_place(tmp_path: Path, kind: str, job: str) -> None:
    """The names are those that the Service gives to the pods of the object."""
    objects = made("usual", tmp_path)
    workload, service = find(objects, kind), find(objects, "Service")
    pod = workload["spec"]["template"]["spec"]
    container = pod["containers"][0]
    names = [each["name"] for each in container["env"]]
    assert names.index(INDEX) < names.index("TF_CONFIG")
    told = json.loads(expanded(container["env"][-1]["value"], {INDEX: "0"}))
    assert told["task"] == {"type": job, "index": 0}
    pods = f"{workload['metadata']['name']}-0.{service['metadata']['name']}:2222"
    assert told["cluster"][job][0] == pods
    assert pod["subdomain"] == service["metadata"]["name"]
    assert expanded(container["args"][-1], {INDEX: "0"}) == "0"
    labels = workload["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


def test_what_looks_like_a_variable_stays(tmp_path: Path) -> None:
    program = tmp_path / "a.py"
    program.touch()
    request = Request(str(program), ["$(HOME)"], environment={"X": "$(Y)"})
    container = find(
        objects_of(settings_of(request, {"image": "weft"})), "Job"
    )["spec"]["template"]["spec"]["containers"][0]  # fmt: skip
    assert expanded(container["args"][-1], {"HOME": "/"}) == "$(HOME)"
    values = {each["name"]: each.get("value", "") for each in container["env"]}
    assert expanded(values["X"], {"Y": "no"}) == "$(Y)"


@pytest.mark.parametrize("name", CASES)
def test_no_pod_has_rights(tmp_path: Path, name: str) -> None:
    for pod in pods_of(made(name, tmp_path)):
        assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"]
        assert not pod["automountServiceAccountToken"]
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
            assert not container["securityContext"]["allowPrivilegeEscalation"]


def pods_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every specification of a pod in a structure."""
    if isinstance(value, dict):
        if "containers" in value:
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from pods_of(each)


def test_gpus_are_for_those_that_train(tmp_path: Path) -> None:
    objects = made("usual", tmp_path)
    ps, worker = (next(pods_of(find(objects, kind))) for kind in ("StatefulSet", "Job"))
    assert worker["containers"][0]["resources"] == {
        "requests": {"cpu": "0.5", "memory": "4Gi"},
        "limits": {"memory": "4Gi", "nvidia.com/gpu": "2"},
    }
    assert "nvidia.com/gpu" not in ps["containers"][0]["resources"]["limits"]


def test_the_first_worker_of_a_pytorchjob_is_its_master(tmp_path: Path) -> None:
    replicas = made("pytorchjob", tmp_path)[-1]["spec"]["pytorchReplicaSpecs"]
    assert {name: each["replicas"] for name, each in replicas.items()} == {"Master": 1, "Worker": 2}
    (master,) = pods_of(replicas["Master"])
    told = json.loads(expanded(master["containers"][0]["env"][-1]["value"], {INDEX: "0"}))
    assert told["cluster"] == {
        "chief": ["train-master-0:2222"],
        "worker": ["train-worker-0:2222", "train-worker-1:2222"],
    }


def test_a_pod_waits_for_its_name() -> None:
    command = [sys.executable, "-c", WAIT_FOR_NAME, "no.such.host.invalid", "localhost"]
    environment = {**os.environ, INDEX: "1"}
    assert subprocess.run(command, env=environment, check=False, timeout=60).returncode == 0


# ---- the command ---------------------------------------------------------------------------------


def launch(*args: str) -> int:
    return main(["launch", "--engine", "kubernetes", *args])


@pytest.fixture
def secrets(tmp_path: Path) -> list[str]:
    """Options of the files of a Secret."""
    files = {"tls-cert": "a", "tls-key": "b", "tls-ca": "c", "token-file": "d"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return [word for name in files for word in (f"--{name}", str(tmp_path / name))]


@pytest.mark.parametrize("output", ["yaml", "json"])
def test_streams(
    tmp_path: Path, secrets: list[str], output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "My_Program.py"
    program.write_text("a = 1\nb = 2\n")
    assert launch("--image", "weft", "-o", output, *secrets, str(program), "--x") == 0
    text, error = capsys.readouterr()
    objects = json.loads(text)["items"] if output == "json" else list(yaml.safe_load_all(text))
    kinds = ["NetworkPolicy", "ConfigMap", "Secret", "Service", "StatefulSet", "Job"]
    assert [each["kind"] for each in objects] == kinds and not error
    assert objects[1]["data"] == {"My_Program.py": "a = 1\nb = 2\n"}
    assert objects[2]["data"].keys() == {"tls.crt", "tls.key", "ca.crt", "token"}
    (pod,) = pods_of(objects[-1])
    assert pod["containers"][0]["args"] == ["run", "/program/My_Program.py", "--x"]
    variables = {each["name"]: each.get("value") for each in pod["containers"][0]["env"]}
    assert variables["WEFT_TLS_KEY"] == "/etc/weft/tls.key"
    assert objects[-1]["metadata"]["name"] == "my-program-worker"
    assert output == "json" or "  My_Program.py: |\n    a = 1\n" in text


def test_a_folder_for_kustomize(tmp_path: Path, secrets: list[str]) -> None:
    program = tmp_path / "train.py"
    program.write_text("a = 1\n")
    folder = tmp_path / "out"
    options = ["--image", "weft", "-o", "kustomize", "--folder", str(folder), *secrets]
    assert launch(*options, "--namespace", "ml", str(program)) == 0
    kustomization = yaml.safe_load((folder / "kustomization.yaml").read_text())
    kinds = ["networkpolicy", "service", "statefulset-ps", "job-worker"]
    assert kustomization["resources"] == [f"{kind}.yaml" for kind in kinds]
    generated = kustomization["configMapGenerator"] + kustomization["secretGenerator"]
    named = [*kustomization["resources"], *(file for each in generated for file in each["files"])]
    written = [path for path in folder.rglob("*") if path.is_file()]
    assert {str(path.relative_to(folder)) for path in written} == {*named, "kustomization.yaml"}
    assert stat.S_IMODE((folder / "secrets" / "token").stat().st_mode) == 0o600
    mounted = yaml.safe_load((folder / "job-worker.yaml").read_text())
    (pod,) = pods_of(mounted)
    names = [each["configMap"]["name"] for each in pod["volumes"] if "configMap" in each]
    names += [each["secret"]["secretName"] for each in pod["volumes"] if "secret" in each]
    assert names == [each["name"] for each in generated]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([__file__], "--engine kubernetes needs --image"),
        (["--image", "w", "no_such.py"], "cannot open 'no_such.py'"),
        (["--image", "w", "--name", "Big", __file__], "'Big' is no name for objects"),
        (["--image", "w", "--gpus", "0.5", __file__], "--gpus 0.5: Kubernetes gives out whole"),
        (["--image", "w", "--form", "jaxjob", __file__], "a JAXJob has no ps: leave it out"),
        (["--image", "w", "--secret", "a=b", __file__], "--secret: 'b' is none of tls.crt,"),
        (["--image", "w", "--secret", "a", "--token-file", "x", __file__], "leave the files out"),
        (["--image", "w", "--token-file", "no_such", __file__], "no_such'"),
        (["--image", "w", "--address", "auto", __file__], "--address is for --engine ray"),
    ],
)
def test_mistakes_are_said(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert launch(*options) == 2
    assert message in capsys.readouterr().err


def test_without_secrets_it_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert launch("--image", "weft", "--in-image", "/app/train.py") == 0
    assert "no token and no TLS" in capsys.readouterr().err


def test_without_pyyaml_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert launch("--image", "weft", "--in-image", "/app/train.py") == 2
    assert "pip install 'weft[kubernetes]'" in capsys.readouterr().err
    assert launch("--image", "weft", "--in-image", "-o", "json", "/app/train.py") == 0


# ---- collectives ---------------------------------------------------------------------------------

CHIEF = {"chief": 1, "worker": 2, "ps": 0}


@pytest.mark.parametrize(
    ("counts", "form", "alike", "ranks", "coordinator"),
    [
        (WORKERS_ONLY, "plain", False, [0, 1, 2], "train-worker-0.train:3222"),
        (WORKERS_ONLY, "plain", True, [0, 1, 2], "train-worker-0.train:2222"),
        (CHIEF, "plain", False, [0, 1, 2], "train-chief-0.train:3222"),
        (CHIEF, "tfjob", False, [0, 1, 2], "train-chief-0:3222"),
        (WORKERS_ONLY, "jaxjob", False, [0, 1, 2], "train-worker-0:3222"),
        ({"worker": 2, "ps": 1}, "plain", False, None, None),
    ],
)
def test_tasks_know_their_ranks(
    tmp_path: Path, counts: Any, form: str, alike: bool, ranks: Any, coordinator: Any
) -> None:
    """What each task finds in its variables, once Kubernetes has put in its number."""
    program = tmp_path / "train.py"
    program.write_text("pass")
    request = Request(str(program), [], counts=counts, alike=alike)
    objects = objects_of(settings_of(request, {"image": "weft:1", "form": form}))
    found = [
        place({n: v.replace("$(TASK_INDEX)", str(i)) for n, v in variables.items()})
        for count, variables in trained(objects)
        for i in range(count)
    ]
    assert [each.size for each in found] == [len(found) if ranks else 1] * len(found)
    if ranks:
        assert sorted(each.rank for each in found) == ranks
        assert {each.coordinator for each in found} == {coordinator}
        assert {(each.local_rank, each.local_size) for each in found} == {(0, 1)}
    told = ["TF_CONFIG" in variables for _, variables in trained(objects)]
    assert any(told) is (form != "tfjob" and not alike)


def trained(objects: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, str]]]:
    """How many tasks there are of each job that trains, and their variables."""
    for each in objects:
        spec = each.get("spec", {})
        jobs = [(spec["completions"], spec["template"])] if each["kind"] == "Job" else []
        for name, replicas in spec.items():
            if name.endswith("Specs"):
                jobs += [(r["replicas"], r["template"]) for r in replicas.values()]
        for count, template in jobs:
            listed = template["spec"]["containers"][0]["env"]
            yield count, {e["name"]: e["value"] for e in listed if "value" in e}
