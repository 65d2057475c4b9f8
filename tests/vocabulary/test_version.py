"""One version for the package, the runtime and the bootstrap pack."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hcpx.vocabulary.version import VERSION


def test_the_version_is_that_of_the_package() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["version"] == VERSION
