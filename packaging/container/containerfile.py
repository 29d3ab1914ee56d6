"""A Containerfile as data: its stages, and the steps of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """An instruction, and what follows it."""

    instruction: str
    text: str


@dataclass
class Stage:
    """What `FROM` begins. `base` is an image, or another stage."""

    name: str
    base: str
    steps: list[Step] = field(default_factory=list)


def instructions(text: str) -> Iterator[Step]:
    """Lines, without comments, those that end with a backslash joined to the next."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n", " ", "\n".join(lines)).splitlines():
        if line.strip():
            instruction, _, rest = line.strip().partition(" ")
            yield Step(instruction.upper(), rest.strip())


def filled(text: str, values: Mapping[str, str]) -> str:
    """A text with its variables put in; those that are not known stay."""
    found = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
    return found.sub(lambda match: values.get(match[1] or match[2], match[0]), text)


def parse(text: str, **given: str) -> tuple[dict[str, Stage], dict[str, str]]:
    """The stages by name, in order, and the arguments of the build."""
    arguments: dict[str, str] = {}
    stages: dict[str, Stage] = {}
    for step in instructions(text):
        if step.instruction == "FROM":
            base, _, name = filled(step.text, arguments).partition(" AS ")
            stages[name] = Stage(name, base)
        elif stages:
            list(stages.values())[-1].steps.append(step)
        else:
            assert step.instruction == "ARG", step
            name, _, value = step.text.partition("=")
            arguments[name] = given.get(name, value)
    return stages, arguments


def steps_of(stages: Mapping[str, Stage], name: str) -> list[Step]:
    """The steps of a stage, after those of the stages that it begins with."""
    stage = stages[name]
    before = steps_of(stages, stage.base) if stage.base in stages else []
    return [*before, *stage.steps]


def needed(stages: Mapping[str, Stage], name: str) -> list[str]:
    """The stages that one copies from, in the order in which they have to be built; itself last."""
    found: list[str] = []
    for step in steps_of(stages, name):
        if step.instruction == "COPY" and (source := re.match(r"--from=(\S+)", step.text)):
            found += [each for each in needed(stages, source[1]) if each not in found]
    return [*found, name]
