"""The tests on every Python that weft supports (`nox`, or `nox -s tests-3.12`)."""

from __future__ import annotations

import nox

PYTHONS = ["3.11", "3.12", "3.13"]

nox.options.sessions = ["tests"]
nox.options.error_on_missing_interpreters = False


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests, or those that the arguments after `--` name."""
    session.install("--editable", ".[dev]")
    session.run("pytest", "-q", *session.posargs)


@nox.session(python=PYTHONS)
def tiny(session: nox.Session) -> None:
    """A smoke test of a few seconds."""
    session.install("--editable", ".[dev]")
    session.run("pytest", "-q", "-x", "tests/test_tiny.py", "tests/test_layers.py")


@nox.session(python=PYTHONS[0])
def types(session: nox.Session) -> None:
    """Both type checkers, on weft and on the programs of tests/typed."""
    session.install("--editable", ".[dev,types]")
    session.run("mypy")
    session.run("pytest", "-q", "-m", "slow or not slow", "tests/typed")


@nox.session(python=PYTHONS[1])
def site(session: nox.Session) -> None:
    """The documentation as a site."""
    session.install("--editable", ".[docs]")
    session.run("python", "docs/site/build.py")
