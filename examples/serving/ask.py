"""Asks a model server for the species of two flowers, with nothing but Python.

python examples/serving/ask.py [http://localhost:8501]
"""

import json
import sys
import urllib.request

server = sys.argv[1] if len(sys.argv) > 1 else "http://localhost:8501"
body = json.dumps({"instances": [[5.1, 3.5, 1.4, 0.2], [6.7, 3.0, 5.2, 2.3]]}).encode()
with urllib.request.urlopen(f"{server}/v1/models/iris:predict", body) as response:
    for row in json.load(response)["predictions"]:
        print(row["species"], max(row["probabilities"]))
