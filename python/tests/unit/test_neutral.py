"""The same cases as test/unit/client/neutral.test.ts."""

from __future__ import annotations

from dataflex_mq.client.neutral import NeutralSteps
from dataflex_mq.errors import error

GONE = error("REDIS_UNREACHABLE", "Redis is away")


def steps() -> NeutralSteps:
    return NeutralSteps({"on_unavailable": "neutral"})


def test_a_release_says_for_which_error_its_step_trained_without_weights() -> None:
    own = steps()
    own.trained("1.0", GONE)
    assert own.report("1.0", {"wait_ms": 5}) == {"wait_ms": 5, "neutral": "REDIS_UNREACHABLE"}
    # Also where nothing could be put of it.
    assert own.report("1.0", None) == {"wait_ms": 0, "neutral": "REDIS_UNREACHABLE"}
    assert own.report("2.0", None) is None


def test_steps_whose_release_was_lost_are_reported_by_the_next_that_arrives_once() -> None:
    own = steps()
    for step in ("1.0", "2.0"):
        own.trained(step, GONE)
        own.released(step, False)
    own.released("3.0", False)
    assert own.report("4.0", {"wait_ms": 1}) == {"wait_ms": 1, "unreported": 2}
    own.released("4.0", True)
    assert own.report("5.0", {"wait_ms": 1}) == {"wait_ms": 1}


def test_a_step_that_got_its_weights_after_all_is_not_without_them() -> None:
    own = steps()
    own.trained("1.0", GONE)
    own.weighed("1.0")
    assert own.report("1.0", {"wait_ms": 1}) == {"wait_ms": 1}
