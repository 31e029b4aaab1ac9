"""What the wheel and the sdist say of themselves: metadata.py WHEEL PKG-INFO VERSION."""

import pathlib
import sys
import tomllib
import zipfile
from email.parser import Parser

wheel, sdist, version = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = archive.read(name).decode()
assert metadata == pathlib.Path(sdist).read_text(encoding="utf-8"), "the wheel and the sdist say different things"
told = Parser().parsestr(metadata)
repository = tomllib.loads(pathlib.Path("Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["repository"]
assert told["Name"] == "epitome-context" and told["Version"] == version, (told["Name"], told["Version"])
assert told["License-Expression"] == "MIT OR Apache-2.0", told["License-Expression"]
assert sorted(told.get_all("License-File")) == ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE"], told.get_all("License-File")
assert f"Repository, {repository}" in told.get_all("Project-URL"), told.get_all("Project-URL")
assert told["Summary"] and told.get_payload().startswith("# epitome-context"), "it has no page"
assert "abi3" in pathlib.Path(wheel).name, "not one wheel for all versions of Python"
print("metadata:", version, *told.get_all("Project-URL"), sep="\n  ")
