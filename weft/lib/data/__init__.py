"""tf.data: input pipelines as graphs. See docs/data.md."""
