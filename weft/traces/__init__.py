"""Traces: recordings of one or many processes as one, with clocks aligned and waits explained."""
