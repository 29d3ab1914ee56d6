"""Serialized examples, CSV lines and protocol messages into tensors."""
