"""A model server: SavedModels behind TensorFlow Serving's gRPC and REST interfaces."""
