"""Recurrent networks: cells, the loops that run them, decoders and attention."""
