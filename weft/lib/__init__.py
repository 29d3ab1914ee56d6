"""Libraries built on the public API, in the order in which they may import each other."""
