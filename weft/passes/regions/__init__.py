"""A partition cut into units: regions for XLA, and host nodes between them."""
