"""Names of the trainers, as they stand in `trainer.v1.trainer_mode`."""

from __future__ import annotations

from .versions import installed

# Name → verl's own mode that the trainer extends, and whether it draws prompts by domain.
TRAINERS: dict[str, tuple[str, bool]] = {
    "dataflex_mq_sync": ("sync", False),
    "dataflex_mq_colocate_async": ("colocate_async", False),
    "dataflex_mq_separate_async": ("separate_async", False),
    "dataflex_mq_mix_sync": ("sync", True),
    "dataflex_mq_mix_colocate_async": ("colocate_async", True),
    "dataflex_mq_mix_separate_async": ("separate_async", True),
}
# The names that dataflex_verl uses: its configurations run unchanged, unless that distribution is there to serve them itself.
INHERITED: dict[str, str] = {"dataflex_sync": "dataflex_mq_sync", "dataflex_mix_sync": "dataflex_mq_mix_sync"}


def names_of(trainer: str) -> list[str]:
    """Every name that a trainer is registered under, its own first."""
    inherited = [] if installed("dataflex_verl") else [name for name, own in INHERITED.items() if own == trainer]
    return [trainer, *inherited]
