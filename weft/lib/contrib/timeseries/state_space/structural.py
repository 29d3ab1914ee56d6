"""Models of series as a level with a slope, cycles, and what follows from the last values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.core import nest
from weft.lib.contrib.timeseries.state_space.configuration import StateSpaceModelConfiguration
from weft.lib.contrib.timeseries.state_space.cycles import (
    CycleStateSpaceModel,
    ResolutionCycleModel,
)
from weft.lib.contrib.timeseries.state_space.ensembles import (
    StateSpaceCorrelatedFeaturesEnsemble,
    StateSpaceIndependentEnsemble,
)
from weft.lib.contrib.timeseries.state_space.level_trend import AdderStateSpaceModel
from weft.lib.contrib.timeseries.state_space.model import StateSpaceModel
from weft.lib.contrib.timeseries.state_space.varma import VARMA
from weft.ops.state.variable_scope import variable_scope

MakeModel = Callable[[StateSpaceModelConfiguration], StateSpaceModel]


def _for_each_feature(scope: str, configuration: Any, make: MakeModel) -> StateSpaceModel:
    """A model for each number of a value, with variables of its own."""
    with variable_scope(scope):
        members = []
        for feature in range(configuration.num_features):
            with variable_scope(f"feature{feature}"):
                members.append(make(configuration._replace(num_features=1)))
        return StateSpaceCorrelatedFeaturesEnsemble(members, configuration)


class _Structure(StateSpaceIndependentEnsemble):
    """A level with a slope, a VARMA model, and cycles."""

    def __init__(
        self,
        moving_average_order: int,
        autoregressive_order: int,
        cycles: list[MakeModel],
        configuration: StateSpaceModelConfiguration,
    ) -> None:
        # Noise of values is that of the whole, not of the parts.
        of_parts = configuration._replace(use_observation_noise=False)
        members = [
            _for_each_feature(
                "adder", of_parts, lambda given: AdderStateSpaceModel(configuration=given)
            )
        ]
        with variable_scope("varma"):
            members.append(VARMA(autoregressive_order, moving_average_order, of_parts))
        members += [
            _for_each_feature(f"cycle{number}", of_parts, make)
            for number, make in enumerate(cycles)
        ]
        super().__init__(members, configuration)


class StructuralEnsemble(_Structure):
    """A structure whose cycles are told value by value.

    Args:
        periodicities: the lengths of cycles, integers.
        moving_average_order, autoregressive_order: of the VARMA model.
        use_level_noise: not used; levels have noise.
        configuration: a `StateSpaceModelConfiguration`.
    """

    def __init__(
        self,
        periodicities: Any,
        moving_average_order: int,
        autoregressive_order: int,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),  # noqa: B008
    ) -> None:
        def cycle(length: int) -> MakeModel:
            return lambda given: CycleStateSpaceModel(length, given)

        cycles = [cycle(length) for length in nest.flatten(periodicities)]
        super().__init__(moving_average_order, autoregressive_order, cycles, configuration)


class MultiResolutionStructuralEnsemble(_Structure):
    """A structure whose cycles are told by a few values each.

    Args:
        cycle_num_latent_values: how many values, of all cycles or of each.
        moving_average_order, autoregressive_order: of the VARMA model.
        periodicities: the lengths of cycles; None: there are none.
        use_level_noise: not used; levels have noise.
        configuration: a `StateSpaceModelConfiguration`.

    Raises:
        ValueError: there are neither as many numbers of values as cycles, nor one.
    """

    def __init__(
        self,
        cycle_num_latent_values: Any,
        moving_average_order: int,
        autoregressive_order: int,
        periodicities: Any,
        use_level_noise: bool = True,
        configuration: StateSpaceModelConfiguration = StateSpaceModelConfiguration(),  # noqa: B008
    ) -> None:
        lengths = [] if periodicities is None else nest.flatten(periodicities)
        counts = nest.flatten(cycle_num_latent_values)
        if len(lengths) != len(counts):
            if len(counts) != 1:
                raise ValueError(
                    "`cycle_num_latent_values` must either be a list with the same size as "
                    f"`periodicity` or a scalar. Received length {len(counts)} "
                    f"`cycle_num_latent_values`, while `periodicities` has length {len(lengths)}."
                )
            counts *= len(lengths)

        def cycle(length: Any, count: int) -> MakeModel:
            return lambda given: ResolutionCycleModel(count, length, configuration=given)

        cycles = [cycle(*each) for each in zip(lengths, counts, strict=True)]
        super().__init__(moving_average_order, autoregressive_order, cycles, configuration)
