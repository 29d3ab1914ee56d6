"""`commands`: what a command of the shell prints."""

from subprocess import getoutput, getstatusoutput

__all__ = ["getoutput", "getstatusoutput"]
