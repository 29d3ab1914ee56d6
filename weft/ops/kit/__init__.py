"""Tools that operations of every family are written with: declarations, hashes, generators."""
