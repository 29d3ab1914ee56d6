"""Transfers and collectives between devices."""
