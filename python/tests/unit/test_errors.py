"""The table of errors and the version are the service's."""

from __future__ import annotations

import ast
import pickle
import re

import dataflex_mq
from dataflex_mq.client.neutral import UNAVAILABLE
from dataflex_mq.errors import ERROR_CODES, DataflexError, FencedError, ServiceFailure, error
from dataflex_mq.sentences import SENTENCES, error_of
from helpers.paths import REPOSITORY


def test_the_table_is_the_services() -> None:
    source = (REPOSITORY / "src" / "errors.ts").read_text()
    pattern = r"(\w+): \{ where: \"(\w+)\", retryable: (\w+), exit: (\d) \}"
    theirs = {
        code: (where, retryable == "true", int(end)) for code, where, retryable, end in re.findall(pattern, source)
    }
    assert {code: tuple(kind) for code, kind in ERROR_CODES.items()} == theirs
    assert list(ERROR_CODES) == list(theirs)


def test_the_sentences_are_the_services() -> None:
    source = (REPOSITORY / "src" / "sentences.ts").read_text()
    table = source[source.index("SENTENCES = {") : source.index("} as const satisfies")]
    entries = re.findall(r"^  \"?([\w.]+)\"?:\s+(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'),$", table, re.MULTILINE)
    assert list(SENTENCES.items()) == [(key, ast.literal_eval(text)) for key, text in entries]
    assert len(entries) == table.count(",\n")
    assert {key.split(".")[0] for key in SENTENCES} <= set(ERROR_CODES)


def test_the_error_of_a_sentence_has_its_code_class_and_facts() -> None:
    fenced = error_of("FENCED", run="r", incarnation=3)
    assert isinstance(fenced, FencedError)
    assert fenced.message == 'run "r": incarnation 3 was replaced by a later trainer; this one must stop'
    assert fenced.details == {"run": "r", "incarnation": 3}
    keys = error_of("ROWS_CONFLICT.unknown_keys", {"unknown": ["a"]}, count=1, first="a")
    assert (keys.code, keys.details) == ("ROWS_CONFLICT", {"unknown": ["a"]})


def test_what_neutral_covers_is_the_services() -> None:
    source = (REPOSITORY / "src" / "errors.ts").read_text()
    listed = re.search(r"UNAVAILABLE[^=]*= new Set<ErrorCode>\(\[(.*?)\]\)", source, re.DOTALL)
    assert listed is not None
    assert list(UNAVAILABLE) == re.findall(r'"(\w+)"', listed[1])
    assert set(UNAVAILABLE) <= set(ERROR_CODES)


def test_every_code_has_a_class_and_every_class_is_public() -> None:
    for code in ERROR_CODES:
        caught = error(code, "x")
        assert type(caught) is not DataflexError, code
        assert type(caught).__name__ in dataflex_mq.__all__


def test_an_error_crosses_processes_and_a_later_versions_code_is_kept() -> None:
    caught = pickle.loads(pickle.dumps(error("FENCED", "gone", {"run": "r"})))
    assert isinstance(caught, FencedError)
    assert (caught.code, caught.message, caught.details, str(caught)) == (
        "FENCED",
        "gone",
        {"run": "r"},
        "[FENCED] gone",
    )
    later = error("NEW_CODE", "x")
    assert isinstance(later, ServiceFailure)
    assert (later.code, later.details) == ("INTERNAL", {"code": "NEW_CODE"})


def test_the_version_is_the_packages() -> None:
    project = (REPOSITORY / "python" / "pyproject.toml").read_text()
    assert f'version = "{dataflex_mq.__version__}"' in project
