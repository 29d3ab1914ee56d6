"""State space models: a state moves on by a matrix and noise, and is seen through another."""
