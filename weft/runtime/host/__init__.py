"""Nodes run on the host: interpreted, or as generated Python code."""
