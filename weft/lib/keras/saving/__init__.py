"""Models and weights in files: HDF5 as Keras writes it, checkpoints, SavedModels."""
