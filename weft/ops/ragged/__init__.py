"""Rows of different lengths."""
