"""Estimators whose model is built in: linear models, networks of dense layers, and both."""
