"""A mounted run in the hands of one producer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import Any, NoReturn

from ..errors import DataflexError
from ..protocol.codec import pack
from ..redis.commits import release_step
from ..redis.connect import Connections
from ..redis.mounts import Handle
from .align import StepRows, align_result
from .background import Sender
from .guard import check_fields, check_stage, check_stages, check_wait, step_at
from .misspelt import refuse_misspelt
from .mounted import MountedRun
from .neutral import NeutralSteps
from .outcomes import PipelineResult
from .pending import PendingStep
from .posting import Posting, PutOptions
from .put import PutReceipt
from .reading import SCRIPT_SECONDS, StepReading
from .run_step import RunStep
from .sessions import riding_sessions
from .state import SavedState, load_state, save_state
from .step_result import StepResult
from .under_way import UnderWay

# A few megabytes at most, outside the training step.
STATE_SECONDS = 60.0


class Run(MountedRun):
    """
    `handle`: what the mount answered. Any number of threads may use a run.
    """

    def __init__(self, connections: Connections, handle: Handle, owner: bool, sender: Sender | None = None) -> None:
        super().__init__(connections, handle, owner)
        self._sender = sender or Sender()
        self._neutral = NeutralSteps(handle)
        self._under_way = UnderWay()
        self._reading = StepReading(connections, handle, self._steps, self._assert_usable)

    @property
    def wants(self) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Stages at which this run wants fields, with the fields. Nothing else is sent."""
        return self.handle["stages"]

    @property
    def neutral_steps(self) -> int:
        """Steps that trained without weights under `on_unavailable: neutral`."""
        return self._neutral.count

    @property
    def copies_dropped(self) -> int:
        """Copies of acknowledged puts that are no longer kept, since all of them had become too large: they are not put again."""
        return self._steps.copies_dropped

    def put(
        self,
        step: int,
        stage: str,
        fields: Mapping[str, Any],
        *,
        total_rows: int | None = None,
        rows: Any = None,
        keys: Sequence[str] | None = None,
        lengths: Any = None,
        is_padding: Any = None,
        trigger: int = 0,
        replace: bool = False,
        timeout: float | None = None,
    ) -> PutReceipt:
        """
        Posts fields of a step at a stage. fields: name → (rows,) or (rows, L), see `to_field_value` for what is taken; those that `wants`
        does not list stay here.

        total_rows: rows of the whole step; default those of this put. rows: (start, stop), those of this put; default all. keys: one a
        row, in any order; post_reward and post_advantage are about the same rows. The first put of the step names all of them, the first
        put of a later stage all that the stage is about, other puts any part. lengths (rows,): response lengths in tokens,
        needed for fields of scope `response` that come padded. is_padding (rows,): rows that only fill the batch up; they count nowhere
        and weigh 0. trigger: for trainers that update several times a step. replace: other content for a put made before opens a new
        attempt of the step. timeout: seconds that Redis may take, default the run's `max_wait_ms`.

        Raises INVALID_INPUT with field, row and column; LIMIT, FENCED, RELEASED, PUT_CONFLICT, ROWS_CONFLICT, REDIS_FULL, CLOSED;
        REDIS_UNREACHABLE, unless `on_unavailable` is neutral: then `kind` is UNAVAILABLE and the step's weights are neutral.
        """
        options = PutOptions.of(total_rows, rows, keys, lengths, is_padding, replace)
        at = step_at(step, trigger)
        seconds = self._neutral.patience(at, self._deadline(timeout))
        return self._covering(at, lambda: self._posting(at, stage, fields, options, seconds)())

    def submit(
        self,
        step: int,
        stage: str,
        fields: Mapping[str, Any],
        *,
        trigger: int = 0,
        timeout: float | None = None,
        **put: Any,
    ) -> PendingStep:
        """
        As `put`, whose other arguments it takes, for weights that are needed later: encodes at once (the arrays may be reused when this
        returns), sends on the client's one background thread. timeout: seconds for put and weights together, at most `max_wait_ms`.
        Raises INVALID_INPUT, LIMIT, FENCED, CLOSED at once; the rest in `result()`.
        """
        named = {name: put.pop(name, None) for name in ("total_rows", "rows", "keys", "lengths", "is_padding")}
        options = PutOptions.of(**named, replace=put.pop("replace", False))
        if put:
            raise TypeError(f"submit() got unexpected arguments: {', '.join(put)}")
        at = step_at(step, trigger)
        seconds = check_wait(self._deadline(timeout), self.handle["max_wait_ms"])
        try:
            send = self._posting(at, stage, fields, options, seconds)
        except DataflexError as caught:
            # Keys are looked up before anything is encoded.
            if not self._neutral.covers(caught):
                raise
            send = partial(_raise, caught)
        sent = self._sender.submit(lambda: self._covering(at, send))
        self._under_way.add(at, sent)
        weights = partial(self.weights, step, stages=[stage], trigger=trigger)
        settled = partial(self.is_settled, step, stages=[stage], trigger=trigger)
        return PendingStep(int(step), int(trigger), stage, sent, seconds, settled, weights)

    def weights(
        self,
        step: int,
        timeout: float | None = None,
        *,
        stages: Sequence[str] | None = None,
        trigger: int = 0,
    ) -> StepResult:
        """
        Waits for the outcomes of the step's delivered pipelines; of those of `stages` only, if given. timeout: seconds, default and at most
        the run's `max_wait_ms`. A step that was read is answered again, also when Redis has forgotten it since, until it is released.

        Raises the failure that settled a pipeline; TIMEOUT with a diagnosis (which field, broker or worker was missing) or
        REDIS_UNREACHABLE, unless `on_unavailable` is neutral; INVALID_INPUT, ROWS_CONFLICT (a row of the last stage that an earlier
        stage's pipeline did not see), FENCED, RELEASED, CLOSED.
        """
        self._assert_usable()
        at = step_at(step, trigger)
        check_stages(stages)
        seconds = check_wait(self._deadline(timeout), self.handle["max_wait_ms"])
        delivered = [pipeline for pipeline in self.handle["pipelines"] if not pipeline["shadow"]]
        expected = [one for one in delivered if stages is None or one["stage"] in stages]
        began = time.monotonic()
        everything = len(expected) == len(delivered)
        results: list[PipelineResult] = []
        rows: StepRows | None = None
        neutral: DataflexError | None = None
        try:
            left = self._under_way.wait(at, seconds)
            self._neutral.check(at)
            before = self._reading.before(at) if everything else None
            results = self._reading.outcomes(at, expected, left) if before is None else before
            rows = self._reading.rows(at, results)
            self._neutral.weighed(at)
        except DataflexError as caught:
            if not self._neutral.covers(caught):
                raise
            neutral, results = caught, []
            self._neutral.trained(at, caught)
        waited = time.monotonic() - began
        self._steps.settled(at, waited * 1000, results, everything and neutral is None)
        aligned = results if rows is None else [align_result(one, rows) for one in results]
        keys = None if rows is None else rows.keys
        return StepResult(self.handle, int(step), int(trigger), waited, aligned, neutral, self._steps.of(at), keys)

    def is_settled(self, step: int, *, trigger: int = 0, stages: Sequence[str] | None = None) -> bool:
        """Whether `weights` would answer at once. Asks Redis once."""
        at = step_at(step, trigger)
        delivered = [pipeline for pipeline in self.handle["pipelines"] if not pipeline["shadow"]]
        return self._reading.is_settled(
            at, [one["name"] for one in delivered if stages is None or one["stage"] in stages]
        )

    def release(self, step: int, trigger: int = 0) -> str:
        """
        Done with the step: its keys go, at once (BURIED) or when the last pipeline still at work has settled (PENDING); UNKNOWN: there
        was no such step. Raises CLOSED; REDIS_UNREACHABLE, unless `on_unavailable` is neutral: then the step is forgotten here
        (UNAVAILABLE), and what Redis has of it goes with its TTL.
        """
        at = step_at(step, trigger)
        report = self._neutral.report(at, self._steps.report(at))
        packed = b"" if report is None else pack(report)
        seconds = self._neutral.patience(at, SCRIPT_SECONDS)
        release = partial(release_step, self._connections, self.handle, at, packed)
        unavailable = False
        try:
            word, fate = self._call(seconds, f"release of step {at}", release)
        except DataflexError as caught:
            unavailable = self._neutral.covers(caught)
            if not unavailable:
                raise
        self._steps.forget(at)
        self._neutral.released(at, not unavailable)
        self._under_way.forget(at)
        if unavailable:
            return "UNAVAILABLE"
        self._fenced = self._fenced or word == "FENCED"
        if self._is_owner:
            self._released.add(at)
        return fate if word == "OK" else "UNKNOWN"

    def step(self, step: int, *, trigger: int = 0) -> RunStep:
        """`with run.step(7) as step`: a step that is released at the end, also after an exception."""
        step_at(step, trigger)
        return RunStep(self, step, trigger)

    def mix_state(self, pipeline: str) -> SavedState:
        """
        What a mix pipeline, a pre-rollout policy or a selector with a memory remembers, as plain data for the trainer's checkpoint.
        Raises INVALID_INPUT for a pipeline that remembers nothing, REDIS_UNREACHABLE, CLOSED.
        """
        what = f'reading the state of pipeline "{pipeline}"'
        return self._call(STATE_SECONDS, what, lambda: save_state(self._connections, self.handle, pipeline))

    def restore_mix_state(self, pipeline: str, state: SavedState) -> None:
        """
        Puts a checkpoint's state in the place of what Redis has; call it after mounting, before the first put. Raises INVALID_INPUT,
        FENCED, NOT_MOUNTED, REDIS_FULL, REDIS_UNREACHABLE, CLOSED.
        """
        what = f'restoring the state of pipeline "{pipeline}"'
        self._call(STATE_SECONDS, what, lambda: load_state(self._connections, self.handle, pipeline, state))

    def _posting(
        self, at: str, stage: str, fields: Mapping[str, Any], options: PutOptions, seconds: float
    ) -> Callable[[], PutReceipt]:
        """Encodes at once; the returned function sends."""
        self._assert_usable()
        check_stage(stage)
        check_fields(fields)
        wanted = [need["name"] for need in self.handle["stages"].get(stage, [])]
        mine = {name: fields[name] for name in wanted if name in fields}
        refuse_misspelt(self.handle, stage, fields)
        sessions = riding_sessions(fields, wanted)
        if not mine:
            return lambda: PutReceipt([], self._steps.attempt(at), "NOTHING_WANTED")
        return Posting(
            self._connections,
            self.handle,
            self._steps,
            at,
            stage,
            mine,
            sessions,
            options,
            seconds,
            self._assert_usable,
        ).send

    def _covering(self, at: str, send: Callable[[], PutReceipt]) -> PutReceipt:
        return self._neutral.sent(at, send, self._steps.attempt(at))

    def __enter__(self) -> Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _raise(caught: DataflexError) -> NoReturn:
    raise caught
