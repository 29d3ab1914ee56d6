"""Heads: what stands on top of the logits of a model: predictions, loss, metrics and training."""
