"""Clusters and the engines that run them.

`request.py` is what was asked for, `plan.py` who runs what with which addresses, `launcher.py` the
loop that looks after running tasks. An engine (`engines.py`) carries a request out: `local.py` and
`on_ray.py` start tasks for the launcher, `kubernetes/` writes manifests.
"""
