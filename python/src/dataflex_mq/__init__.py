"""
dataflex-mq's trainer side: post batch tensors, get per-token loss weights back.

    with Client("redis://127.0.0.1:6379") as client:
        run = client.mount(run_id="r1", dataflex={...}, adv_estimator="grpo")
        run.put(step=7, stage="post_advantage", fields={"advantages": adv, "response_mask": mask})
        result = run.weights(step=7, timeout=10.0)
        result.rollout_is_weights(mask)
"""

from .client.aio import AsyncClient, AsyncRun, AsyncRunStep
from .client.client import Client
from .client.outcomes import PipelineResult
from .client.pending import PendingStep
from .client.put import PutReceipt
from .client.run import Run
from .client.run_step import RunStep
from .client.step_result import StepResult
from .client.step_scale import step_scale
from .columns.input import to_field_value
from .columns.tensor import Jagged
from .errors import (
    ERROR_CODES,
    ClosedError,
    DataflexError,
    FencedError,
    InputError,
    MountError,
    PutError,
    RedisError,
    ServiceFailure,
    WaitTimeout,
    WireError,
)
from .version import __version__

__all__ = [
    "ERROR_CODES",
    "AsyncClient",
    "AsyncRun",
    "AsyncRunStep",
    "Client",
    "ClosedError",
    "DataflexError",
    "FencedError",
    "InputError",
    "Jagged",
    "MountError",
    "PendingStep",
    "PipelineResult",
    "PutError",
    "PutReceipt",
    "RedisError",
    "Run",
    "RunStep",
    "ServiceFailure",
    "StepResult",
    "WaitTimeout",
    "WireError",
    "__version__",
    "step_scale",
    "to_field_value",
]
