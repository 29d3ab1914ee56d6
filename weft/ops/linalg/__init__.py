"""Matrix decompositions, linear systems and Fourier transforms."""
