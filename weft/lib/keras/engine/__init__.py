"""Layers, the graphs they form, and what trains models."""
