"""Files: of this machine and of whatever fsspec reaches; record files."""
