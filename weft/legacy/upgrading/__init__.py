"""Writes old programs anew: with `import weft as tf`, for plain Python of today."""
