"""The commands of deploy/Dockerfile, run without Docker: the service answers its health check, and the check fails without it.

EPITOME_HOME is the unpacked archive, which is what the image copies from.
"""

import json
import os
import pathlib
import re
import socket
import subprocess
import tempfile
import time

home = pathlib.Path(os.environ["EPITOME_HOME"])
dockerfile = pathlib.Path("deploy/Dockerfile").read_text(encoding="utf-8")
for copied in re.findall(r"\$\{TARGETPLATFORM\}/(\S+)", dockerfile):
    assert (home / copied).is_file(), f"the Dockerfile copies {copied}, which is not in the archive"
assert "USER 65532:65532" in dockerfile, "the image runs as root"

entry_point = json.loads(re.search(r"^ENTRYPOINT (.*)$", dockerfile, re.M)[1])
command = json.loads(re.search(r"^CMD (.*)$", dockerfile, re.M)[1])
check = json.loads(re.search(r"^HEALTHCHECK .*\\\n\s+CMD (.*)$", dockerfile, re.M)[1])
assert entry_point == ["epitome"]

with socket.create_server(("127.0.0.1", 0)) as free:
    port = str(free.getsockname()[1])
with tempfile.TemporaryDirectory() as data:
    # Another port and another folder: those of the image may be taken here.
    local = [word.replace("7777", port).replace("/data", data) for word in command]
    check = [word.replace("7777", port) for word in check]
    assert subprocess.run(check, stderr=subprocess.DEVNULL).returncode != 0, "healthy without a service"
    environment = {"PATH": "/usr/bin:/bin", "HOME": data}
    refused = subprocess.run([home / "epitome", *local], env=environment, capture_output=True, text=True)
    assert refused.returncode != 0 and "EPITOME_TOKEN" in refused.stderr, f"no token, and it says: {refused.stderr}"
    service = subprocess.Popen([home / "epitome", *local], env={**environment, "EPITOME_TOKEN": "a-token-of-the-test-0123456789"})
    try:
        ends = time.monotonic() + 30
        while subprocess.run(check, stderr=subprocess.DEVNULL).returncode != 0:
            assert service.poll() is None, "the service ended"
            assert time.monotonic() < ends, "not healthy within 30 seconds"
    finally:
        service.terminate()
        assert service.wait(40) == 0, service.returncode
    assert (pathlib.Path(data) / "epitome.sqlite").is_file(), "nothing was stored under /data"
print("image: healthy as user of the command", *command)
