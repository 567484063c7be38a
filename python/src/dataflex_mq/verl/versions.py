"""Which verl and TransferQueue the trainers were proven on, and what is installed."""

from __future__ import annotations

from importlib import metadata
from types import ModuleType

from ..errors import DataflexError, error
from ..version import __version__

# The tests in `tests/verl` run on these. verl moves fast: another version may drop the weights silently, so no other is assumed to work.
PROVEN_VERL = ("0.9.1",)
PROVEN_TRANSFER_QUEUE = ("0.1.8", "0.1.10", "0.1.11")


def installed(distribution: str) -> str | None:
    """Version of an installed distribution."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def unproven(verl: str | None, transfer_queue: str | None, why: BaseException | None = None) -> DataflexError | None:
    """The refusal of a pair of versions, or of a verl that the trainers could not be built on (`why`); None when all is well."""
    if why is None and verl in PROVEN_VERL and transfer_queue in PROVEN_TRANSFER_QUEUE:
        return None
    proven = f"verl {' or '.join(PROVEN_VERL)} with TransferQueue {', '.join(PROVEN_TRANSFER_QUEUE)}"
    found = f"verl {verl or 'of unknown version'} with TransferQueue {transfer_queue or 'missing'}"
    reason = "" if why is None else f" Building the trainers failed with {type(why).__name__}: {why}."
    message = (
        f"dataflex_mq {__version__} is proven on {proven}; this is {found}.{reason} Weights might not reach the loss, so the trainer "
        f'does not start. Install a proven pair: pip install "verl=={PROVEN_VERL[-1]}" "TransferQueue=={PROVEN_TRANSFER_QUEUE[-1]}", '
        "or a dataflex_mq that knows this verl"
    )
    return error("USAGE", message, {"verl": verl, "transfer_queue": transfer_queue})


def refuse_unproven(verl_mode: str, queue: ModuleType) -> None:
    """queue: the module `transfer_queue`. Raises USAGE on a pair of versions that is not proven, or that this mode cannot checkpoint on."""
    refusal = unproven(installed("verl"), installed("TransferQueue"))
    if refusal is not None:
        raise refusal
    if verl_mode != "sync" and not hasattr(queue, "save_checkpoint"):
        message = (
            f"verl saves the queue with every checkpoint in mode {verl_mode}, and TransferQueue {installed('TransferQueue')} cannot. "
            f'Install a later one: pip install "TransferQueue=={PROVEN_TRANSFER_QUEUE[-1]}"'
        )
        raise error("USAGE", message)
