"""The package holds the service's Lua scripts: links in the checkout, copies once it is built."""

from __future__ import annotations

from importlib import resources

import pytest

from dataflex_mq.redis.scripts import SCRIPTS, script
from helpers.paths import REPOSITORY

FILES = {"lib.lua", *(file for file, _ in SCRIPTS.values())}


def test_the_package_holds_exactly_the_services_scripts() -> None:
    held = resources.files("dataflex_mq.redis").joinpath("scripts").iterdir()
    ours = {path.name: path.read_bytes() for path in held}
    assert ours == {name: (REPOSITORY / "src" / "redis" / "scripts" / name).read_bytes() for name in FILES}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_file_names_its_count_of_keys(name: str) -> None:
    file, count = SCRIPTS[name]
    assert script(name)[2] == count == int(file.removesuffix(".lua").rsplit("-", 1)[1])
