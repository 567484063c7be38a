"""Addresses of Redis: what they mean, and what of them may be shown."""

from __future__ import annotations

import json
import traceback

import pytest

from dataflex_mq import DataflexError
from dataflex_mq.redis.address import parse_address, redact
from helpers.paths import REPOSITORY

# The service is held to the same file.
ADDRESSES = json.loads((REPOSITORY / "test" / "fixtures" / "addresses.json").read_text())


@pytest.mark.parametrize(("given", "shown"), ADDRESSES)
def test_what_is_shown(given: str, shown: str) -> None:
    assert redact(given) == shown


@pytest.mark.parametrize(
    "url", ["redis://me:se/cret@host", "redis://me:secret@host:cret", "http://me:secret@host", "redis://[secret@host"]
)
def test_a_malformed_address_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(DataflexError) as caught:
        parse_address(url)
    assert caught.value.code == "USAGE"
    told = "".join(traceback.format_exception(caught.value, chain=True)[-2:]) + str(caught.value.__cause__)
    assert "secret" not in str(caught.value)
    assert "'se'" not in told


def test_an_ipv6_host_loses_its_brackets() -> None:
    assert parse_address("redis://[::1]:7000/2")["host"] == "::1"
