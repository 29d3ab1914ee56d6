"""Neural networks: convolution, pooling, normalization, softmax, recurrent blocks, CTC."""
