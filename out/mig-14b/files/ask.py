"""Ask the server for a short streamed answer, as a client would. Run by `helm test`."""

import json
import os
import sys
import urllib.request

body = {"model": os.environ["MODEL"], "prompt": "One, two,", "max_tokens": 8, "stream": True}
request = urllib.request.Request(
    os.environ["SERVER"] + "/v1/completions",
    data=json.dumps(body).encode(),
    headers={"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("API_KEY", "")},
)
with urllib.request.urlopen(request, timeout=60) as answer:
    lines = [line.decode().strip() for line in answer if line.strip()]
if not lines or lines[-1] != "data: [DONE]":
    sys.exit(f"the stream did not end with [DONE] but with {lines[-1:]}")
if any('"error"' in line for line in lines):
    sys.exit("the stream carries an error")
print(f"{len(lines) - 1} parts, complete")
