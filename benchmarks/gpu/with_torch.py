"""A model in PyTorch, eager or through torch.compile."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def to_torch(value: Any) -> torch.Tensor:
    """A NumPy array; bfloat16, which PyTorch does not take from NumPy, as its bits."""
    if value.dtype.name == "bfloat16":
        return torch.from_numpy(value.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(value)


def to_device(value: Any) -> torch.Tensor:
    return to_torch(value).to(DEVICE, non_blocking=True)


def filters(value: Any) -> torch.Tensor:
    """Filters [height, width, in, out] in PyTorch's order, channels last in memory."""
    tensor = to_device(value)
    if tensor.ndim == 4:
        tensor = tensor.permute(3, 2, 0, 1).contiguous(memory_format=torch.channels_last)
    return tensor


def optimizer(parameters: list[torch.Tensor], kind: str, rate: float) -> Any:
    fused = DEVICE == "cuda"
    if kind == "adam":
        return torch.optim.Adam(parameters, rate, eps=1e-8, fused=fused)
    return torch.optim.SGD(parameters, rate, momentum=0.9 * (kind == "momentum"), fused=fused)


class TorchTraining:
    def __init__(self, model: Any, size: Any, variant: str, compiled: bool) -> None:
        # As XLA multiplies single-precision matrices by default.
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.benchmark = True
        self.size = size
        self.parameters = {n: filters(v) for n, v in model.parameters(size).items()}
        self.state = {n: to_device(v) for n, v in model.state(size).items()}
        self.fed = model.batch(size) if variant == "fed" else None
        self.batch = {n: to_device(v) for n, v in model.batch(size).items()}
        self.optimizer = None
        if model.OPTIMIZER:
            for parameter in self.parameters.values():
                parameter.requires_grad_()
            self.optimizer = optimizer(list(self.parameters.values()), *model.OPTIMIZER)
        self.loss = torch.compile(model.in_torch) if compiled else model.in_torch

    def _train(self) -> torch.Tensor:
        batch = self.batch
        if self.fed is not None:
            batch = {name: to_device(value) for name, value in self.fed.items()}
        loss: torch.Tensor = self.loss(self.parameters, self.state, batch, self.size)
        if self.optimizer is not None:
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
        return loss.detach()

    def step(self) -> None:
        self._train()

    def step_and_loss(self) -> float:
        return float(self._train().item())

    def peak_bytes(self) -> int:
        return torch.cuda.max_memory_allocated() if DEVICE == "cuda" else 0


def training(model: Any, size: Any, variant: str, compiled: bool = False) -> TorchTraining:
    return TorchTraining(model, size, variant, compiled)
