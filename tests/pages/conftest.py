"""Model servers for tests of their pages."""

from tests.serve.conftest import client as client
from tests.serve.conftest import start as start
