"""tf.saved_model.tag_constants: tags that tell the graphs of one SavedModel apart."""

SERVING = "serve"
TRAINING = "train"
EVAL = "eval"
GPU = "gpu"
TPU = "tpu"
