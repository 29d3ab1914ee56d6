"""Clusters for tests of their traces."""

from tests.cluster.conftest import servers as servers
