"""TLS, certificates of clients, tokens: who gets in, and what the others are told."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import weft as tf
from tests.cluster.conftest import _environment, cluster_of
from weft.cli import main
from weft.cli.commands import server as cli_server
from weft.cli.credentials import credentials_of, environment_of
from weft.cluster.guard import security
from weft.cluster.guard.limits import COMPLAINTS
from weft.cluster.guard.security import Credentials
from weft.cluster.server import Server
from weft.cluster.transport import inprocess
from weft.cluster.transport.frames import GREETING
from weft.core import flags

pytestmark = pytest.mark.timeout(60)
SECRET = "correct-horse-battery-staple"


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with certificates and keys, made once."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl, which makes the certificates, is not installed")
    folder = tmp_path_factory.mktemp("certificates")
    script = Path(__file__).parent / "make_certificates.sh"
    subprocess.run(["sh", str(script), str(folder)], check=True, capture_output=True)
    return folder


@pytest.fixture
def files(tmp_path: Path, certificates: Path) -> Path:
    """Certificates and keys that nobody else can read, and a token."""
    for path in [*certificates.glob("*.pem"), *certificates.glob("*.key")]:
        shutil.copy(path, tmp_path)
    (tmp_path / "token").write_text(SECRET + "\n")
    (tmp_path / "other_token").write_text("another-token\n")
    for path in tmp_path.iterdir():
        path.chmod(0o600)
    security._warned.clear()
    COMPLAINTS._said.clear()
    return tmp_path


def made(files: Path, **names: str | bool) -> Credentials:
    """Credentials of files by name: `cert="task"` is task.pem with task.key."""
    known = {name: value for name, value in names.items() if isinstance(value, bool)}
    found = Credentials(**known)
    if "cert" in names:
        name = names["cert"]
        found = replace(found, cert=str(files / f"{name}.pem"), key=str(files / f"{name}.key"))
    if "ca" in names:
        found = replace(found, ca=str(files / f"{names['ca']}.pem"))
    if "token" in names:
        found = replace(found, token_file=str(files / str(names["token"])))
    if "name" in names:
        found = replace(found, server_name=str(names["name"]))
    return found


Serve = Callable[..., Server]


@pytest.fixture
def serve(files: Path) -> Iterator[Serve]:
    """Starts a server of one task; sessions do not know that it is in this process."""
    servers: list[Server] = []

    def start(**names: str | bool) -> Server:
        server = Server.create_local_server(credentials=made(files, **names))
        servers.append(server)
        inprocess.unregister(server.target, server.master)
        return server

    yield start
    for each in servers:
        each.stop()


def doubled(target: str, credentials: Credentials) -> float:
    """A step on the server."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [])
        with tf.Session(target, config=credentials.added_to(tf.ConfigProto())) as sess:
            return float(sess.run(2.0 * x, {x: 21.0}))


TLS = {"cert": "task"}
MUTUAL = {"cert": "task", "ca": "ca", "require_client_cert": True}
TOKEN = {"token": "token"}


@pytest.mark.parametrize(
    "server, client",
    [
        (TLS, {"ca": "ca"}),
        (MUTUAL, {"ca": "ca", "cert": "task"}),
        (TOKEN, TOKEN),
        ({**TLS, **TOKEN}, {"ca": "ca", **TOKEN}),
        ({**MUTUAL, **TOKEN}, {"ca": "ca", "cert": "task", **TOKEN}),
        ({"cert": "elsewhere"}, {"ca": "ca", "name": "elsewhere.example"}),
        ({}, TOKEN),  # more than is asked for
    ],
    ids=["tls", "mutual", "token", "tls+token", "mutual+token", "other name", "needless"],
)
def test_who_has_what_is_asked_for_gets_in(
    serve: Serve, files: Path, server: dict[str, str], client: dict[str, str]
) -> None:
    assert doubled(serve(**server).target, made(files, **client)) == 42.0


@pytest.mark.parametrize(
    "server, client, says",
    [
        ({"cert": "expired"}, {"ca": "ca"}, "has expired: give the server a new one"),
        ({"cert": "elsewhere"}, {"ca": "ca"}, "is not for 'localhost'.*WEFT_TLS_NAME"),
        ({"cert": "stranger"}, {"ca": "ca"}, r"not signed by .*/ca\.pem.*WEFT_TLS_CA"),
        (TLS, {}, "the server speaks TLS: name the CA.*WEFT_TLS_CA"),
        ({}, {"ca": "ca"}, "the server does not speak TLS: start it with.*--tls-cert"),
        (MUTUAL, {"ca": "ca"}, "wants a certificate of its clients.*WEFT_TLS_CERT"),
        (MUTUAL, {"ca": "ca", "cert": "stranger"}, "refused the certificate of this process"),
        (MUTUAL, {"ca": "ca", "cert": "expired"}, "refused the certificate of this process"),
        (TOKEN, {}, "wants a token, and the call has none.*WEFT_TOKEN_FILE"),
        (TOKEN, {"token": "other_token"}, "is none of the server's tokens"),
        ({**TLS, **TOKEN}, {"ca": "ca"}, "wants a token"),
    ],
    ids=[
        "expired", "name", "stranger", "plain to tls", "tls to plain", "no certificate",
        "strange certificate", "expired certificate", "no token", "wrong token", "tls, no token",
    ],
)  # fmt: skip
def test_others_are_told_why_not_and_at_once(
    serve: Serve, files: Path, server: dict[str, str], client: dict[str, str], says: str
) -> None:
    target, start = serve(**server).target, time.monotonic()
    with pytest.raises(tf.errors.UnauthenticatedError, match=says):
        doubled(target, made(files, **client))
    assert time.monotonic() - start < 5


def test_a_client_with_patience_is_told_as_well(serve: Serve, files: Path) -> None:
    config = made(files, ca="ca").added_to(tf.ConfigProto(operation_timeout_in_ms=30_000))
    start = time.monotonic()
    with (
        tf.Session(serve().target, config=config) as sess,
        pytest.raises(tf.errors.UnauthenticatedError, match="does not speak TLS"),
    ):
        sess.run(tf.constant(1))
    assert time.monotonic() - start < 10


def test_a_server_that_refuses_one_client_serves_the_next(serve: Serve, files: Path) -> None:
    target = serve(**TLS, **TOKEN).target
    for wrong in ({}, {"ca": "stranger_ca", **TOKEN}, {"ca": "ca", "token": "other_token"}):
        with pytest.raises(tf.errors.UnauthenticatedError):
            doubled(target, made(files, **wrong))
    assert doubled(target, made(files, ca="ca", **TOKEN)) == 42.0


def test_grpcs_means_tls(serve: Serve, files: Path) -> None:
    target = serve(**TLS).target.replace("grpc://", "grpcs://")
    assert doubled(target, made(files, ca="ca")) == 42.0
    with pytest.raises(tf.errors.UnauthenticatedError, match="not signed by the CAs that gRPC"):
        doubled(target, Credentials())


def test_a_session_in_the_process_of_its_server_needs_nothing(files: Path) -> None:
    server = Server.create_local_server(credentials=made(files, **MUTUAL, **TOKEN))
    for target in (server.target, server.target.replace("grpc://", "grpcs://")):
        assert doubled(target, Credentials()) == 42.0
    server.stop()


def test_the_environment_counts_if_nothing_else_is_said(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = made(files, **MUTUAL, **TOKEN)
    assert len(ours.to_environment()) == 5
    for flag in flags.FLAGS:
        monkeypatch.setattr(flag, "value", ours.to_environment().get(flag.name, flag.value))
    assert Credentials.from_environment() == replace(ours, require_client_cert="1")
    server = Server.create_local_server()
    inprocess.unregister(server.target, server.master)
    with tf.Session(server.target) as sess:
        assert sess.run(tf.constant(3) + 4) == 7
    server.stop()


def test_any_line_of_the_servers_tokens_will_do(files: Path) -> None:
    (files / "token").write_text(f"\nnew-token\n  {SECRET} \n")
    both = security.Identity(made(files, **TOKEN))
    assert both.token == b"new-token"
    assert both.accepts(SECRET.encode()) and not both.accepts(b"") and not both.accepts(b"new")
    assert security.NOBODY.accepts(b"")


# ---- among servers ----------------------------------------------------------------------------


@pytest.mark.parametrize("how", [{**MUTUAL, **TOKEN}, TOKEN], ids=["mutual+token", "token"])
def test_servers_show_each_other_the_same(files: Path, how: dict[str, str]) -> None:
    spec = cluster_of(ps=1, worker=1)
    ours = made(files, **how)
    ps = Server(spec, "ps", 0, credentials=ours)
    worker = Server(spec, "worker", 0, config=ours.added_to())  # the config will do as well
    assert "pem" not in str(worker.server_def) and SECRET not in str(worker.server_def)
    try:
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(np.ones(100_000, np.float32))
        with tf.device("/job:worker/task:0"):
            total = tf.reduce_sum(v * 2.0)
        with tf.Session(worker.target) as sess:
            sess.run(v.initializer)
            assert [sess.run(total) for _ in range(3)] == [200_000.0] * 3
    finally:
        ps.stop()
        worker.stop()


def test_a_session_fails_at_once_if_servers_do_not_trust_each_other(files: Path) -> None:
    spec = cluster_of(ps=1, worker=1)
    ps = Server(spec, "ps", 0, credentials=made(files, **MUTUAL))
    worker = Server(spec, "worker", 0, credentials=made(files, cert="stranger", ca="ca"))
    start = time.monotonic()
    try:
        with (
            tf.Session(worker.target) as sess,
            pytest.raises(tf.errors.UnauthenticatedError, match=r"/job:ps.*refused the certif"),
        ):
            sess.run(tf.constant(1))
    finally:
        ps.stop()
        worker.stop()
    assert time.monotonic() - start < 10


def test_there_are_no_frames_under_tls_and_a_token_for_them_else(
    serve: Serve, files: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert serve(**TLS)._frames is None
    server = serve(**TOKEN)
    assert server._frames is not None
    for said in (GREETING + b"\x00\x00", GREETING + b"\x04\x00nope"):
        with socket.create_connection(("localhost", server._frames.port)) as stranger:
            stranger.sendall(said)
            stranger.settimeout(5)
            assert stranger.recv(1) == b""  # it has hung up
    assert "by frames: the token is none of the server's tokens" in capfd.readouterr().err
    with tf.Session(server.target, config=made(files, **TOKEN).added_to()) as sess:
        assert sess.run(tf.constant(5)) == 5
        assert sess._runner.master._frames.connection is not None


def test_a_client_that_wants_tls_does_not_use_frames_even_if_told_of_a_port(
    serve: Serve, files: Path
) -> None:
    server = serve(**TLS)
    with tf.Session(server.target, config=made(files, ca="ca").added_to()) as sess:
        assert sess.run(tf.constant(5)) == 5
        frames = sess._runner.master._frames
        frames.connect_now(1, "")
        assert not frames.may_ask() and frames.connection is None


# ---- what is said, and what is not -------------------------------------------------------------


def test_secrets_are_not_told(serve: Serve, files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    credentials = made(files, **TLS, ca="ca", **TOKEN)
    identity = security.Identity(credentials)
    server = serve(**TLS, **TOKEN)
    with pytest.raises(tf.errors.UnauthenticatedError) as info:
        doubled(server.target, made(files, ca="ca", token="other_token"))
    log = capfd.readouterr().err
    assert "refused: " in log and "none of the server's tokens" in log
    for text in (repr(identity), repr(credentials), str(info.value), log):
        assert SECRET not in text and "another-token" not in text
        assert "PRIVATE KEY" not in text


def test_credentials_in_a_config_stay_in_the_process(
    serve: Serve, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(**TLS)
    seen: list[bytes] = []
    create = server.master.create_session

    def spy(graph_def: object, config: tf.ConfigProto, target: str = "") -> tuple[str, int]:
        seen.append(config.SerializeToString())
        return create(graph_def, config, target)

    monkeypatch.setattr(server.master, "create_session", spy)
    assert doubled(server.target, made(files, ca="ca")) == 42.0
    assert seen and b"pem" not in seen[0]


def test_a_config_keeps_credentials_through_copies(files: Path) -> None:
    ours = made(files, **MUTUAL)
    config = ours.added_to(tf.ConfigProto(log_device_placement=True))
    copy = tf.ConfigProto()
    copy.CopyFrom(config)
    assert security.from_config(tf.ConfigProto.FromString(copy.SerializeToString())) == ours
    assert security.from_config(Credentials().added_to(config)) == Credentials()
    assert config.log_device_placement and security.from_config(tf.ConfigProto()) is None


def test_a_secret_that_others_can_read(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (files / "task.key").chmod(0o640)
    (files / "token").chmod(0o604)
    for _ in range(2):
        security.Identity(made(files, **TLS, **TOKEN))
    log = capfd.readouterr().err
    assert log.count(f"chmod 600 {files / 'task.key'}\n") == 1
    assert log.count(f"chmod 600 {files / 'token'}\n") == 1


def test_a_token_in_the_clear(files: Path, capfd: pytest.CaptureFixture[str]) -> None:
    channel = security.Identity(made(files, **TOKEN)).channel("192.0.2.1:2222", ())
    channel.close()
    assert "192.0.2.1:2222 in the clear" in capfd.readouterr().err
    security.Identity(made(files, **TOKEN)).channel("[::1]:2222", ()).close()
    security.Identity(made(files, **TOKEN, ca="ca")).channel("192.0.2.1:2222", ()).close()
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"cert": "x.pem"}, "one of the two is missing"),
        ({"cert": "task.pem", "key": "elsewhere.key"}, "belong together.*KEY_VALUES_MISMATCH"),
        ({"cert": "task.key", "key": "task.key"}, "No certificate and key"),
        ({"ca": "token"}, "No CA could be read from .*token"),
        ({"ca": "nowhere.pem"}, "Cannot read .*nowhere.pem: No such file"),
        ({"token_file": "empty"}, "There is no token in"),
        ({"token_file": "binary"}, "printable ASCII"),
        ({"ca": "ca.pem"}, "A server that speaks TLS takes a certificate.*--tls-cert"),
        ({"require_client_cert": True}, "and the CA that signs theirs.*--tls-ca"),
    ],
)
def test_files_that_will_not_do(files: Path, wrong: dict[str, str], says: str) -> None:
    (files / "empty").write_text("\n")
    (files / "binary").write_bytes(b"\xff\x00")
    paths = {k: str(files / v) if isinstance(v, str) else v for k, v in wrong.items()}
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        Server.create_local_server(credentials=Credentials(**paths))


@pytest.mark.parametrize(
    "address, here",
    [
        ("localhost:1", True), ("127.0.0.1:1", True), ("[::1]:1", True), (":1", True),
        ("0.0.0.0:1", False), ("[::]:1", False), ("host.example:1", False), ("192.0.2.1:1", False),
    ],
)  # fmt: skip
def test_what_is_loopback(address: str, here: bool) -> None:
    assert security.is_loopback(address) is here


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells who listens where")
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", ""])
def test_servers_listen_on_loopback_alone(host: str) -> None:
    server = Server({"local": [f"{host}:0"]})
    assert server._frames is not None
    ports = {int(server.target.rpartition(":")[2]), server._frames.port}
    lines = "".join(Path(f"/proc/net/{name}").read_text() for name in ("tcp", "tcp6"))
    places = [line.split() for line in lines.splitlines()]
    listening = [place[1].split(":") for place in places if place[3:4] == ["0A"]]
    hosts = {h for h, port in listening if int(port, 16) in ports}
    server.stop()
    loopback = {"0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F"}
    assert hosts and hosts <= loopback


def test_the_command_line_counts_before_the_environment() -> None:
    words = ["server", "--cluster", "a=:1", "--tls-cert", "/c", "--require-client-cert"]
    said = main.parser().parse_args([*words, "--max-held", "5", "--max-sessions", "6"])
    with flags.TLS_CERT.override("/other"), flags.TLS_KEY.override("/k"):
        assert credentials_of(said) == Credentials("/c", "/k", require_client_cert=True)
        assert environment_of(said) == {
            "WEFT_TLS_CERT": "/c", "WEFT_TLS_KEY": "/k", "WEFT_TLS_CLIENTS": "1",
        }  # fmt: skip
        nothing = main.parser().parse_args(["launch", "program.py"])
        assert environment_of(nothing) == {}  # the tasks have our environment anyway
    limits = cli_server._limits(said)
    assert (limits.held, limits.sessions) == (5 << 20, 6)


# ---- processes --------------------------------------------------------------------------------


@pytest.mark.cluster
def test_weft_server_with_tls_and_a_token(files: Path) -> None:
    spec = cluster_of(a=2)
    command = [sys.executable, "-m", "weft", "server", "--cluster", "a=" + ",".join(spec["a"])]
    command += ["--job", "a", "--require-client-cert", "--token-file", "token"]
    command += ["--tls-cert", "task.pem", "--tls-key", "task.key", "--tls-ca", "ca.pem"]
    processes = [
        subprocess.Popen(
            [*command, "--task", str(i)], stdout=subprocess.PIPE, cwd=files, env=_environment()
        )
        for i in range(2)
    ]
    try:
        for each in processes:
            assert each.stdout is not None and b" at grpc://" in each.stdout.readline()
        target = f"grpc://{spec['a'][0]}"
        with tf.device("/job:a/task:1"):
            v = tf.Variable(4.0)
        with tf.device("/job:a/task:0"):
            half = v / 2.0
        config = made(files, ca="ca", cert="task", **TOKEN).added_to()
        with tf.Session(target, config=config) as sess:
            sess.run(v.initializer)
            assert sess.run(half) == 2.0
        with pytest.raises(tf.errors.UnauthenticatedError, match="wants a token"):
            doubled(target, made(files, ca="ca", cert="task"))
    finally:
        for each in processes:
            each.kill()
            each.communicate()


PROGRAM = """
import json, os
import weft as tf
place = json.loads(os.environ["TF_CONFIG"])
task = place["task"]
server = tf.train.Server(place["cluster"], task["type"], task["index"])
if task["type"] == "ps":
    server.join()
assert server._frames is None, "there must be no frames under TLS"
with tf.device("/job:ps/task:0"):
    v = tf.Variable(20.0)
with tf.Session(server.target) as sess:
    sess.run(v.initializer)
    print("answer", sess.run(v + 1.0))
"""


@pytest.mark.cluster
def test_weft_launch_tells_all_its_tasks(files: Path) -> None:
    (files / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "weft", "launch", "--ps", "1", "--workers", "1"]
    command += ["--tls-cert", "task.pem", "--tls-key", "task.key", "--tls-ca", "ca.pem"]
    command += ["--require-client-cert", "--token-file", "token", "--no-restart", "program.py"]
    ran = subprocess.run(
        command, cwd=files, env=_environment(), capture_output=True, text=True, timeout=50
    )
    assert "answer 21.0" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == 0 and SECRET not in ran.stdout + ran.stderr
