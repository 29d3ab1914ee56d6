"""Horovod's interface, on the collectives of weft: what programs find as `horovod`."""
