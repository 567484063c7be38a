"""A run whose steps are posted stage by stage, whatever it wants."""

from __future__ import annotations

from typing import Any

from dataflex_mq import Client, Run, StepResult


def mounted(client: Client, run_id: str, dataflex: Any, **more: Any) -> Run:
    return client.mount(run_id=run_id, dataflex=dataflex, adv_estimator="grpo", **more)


def posted(run: Run, step: int, fields: dict[str, Any], **more: Any) -> None:
    """Puts what each stage wants."""
    for stage in run.wants:
        run.put(step, stage, fields, **more)


def weighed(run: Run, step: int, fields: dict[str, Any], **more: Any) -> StepResult:
    posted(run, step, fields, **more)
    return run.weights(step, timeout=20.0)
