"""Boosted trees, random forests, k-means and linear models by dual ascent."""
