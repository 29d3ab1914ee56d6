"""What the programs know as `keras`: the modules they use, without the rest of it."""

from __future__ import annotations

from types import SimpleNamespace

from weft.lib.keras import (
    activations,
    backend,
    constraints,
    initializers,
    losses,
    metrics,
    optimizers,
    regularizers,
)
from weft.lib.keras.utils import generic

keras = SimpleNamespace(
    activations=activations,
    backend=backend,
    constraints=constraints,
    initializers=initializers,
    losses=losses,
    metrics=metrics,
    optimizers=optimizers,
    regularizers=regularizers,
    utils=generic,
)
