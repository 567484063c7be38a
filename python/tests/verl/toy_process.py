"""
A process that trains the toy, to be killed: `python toy_process.py FOLDER MODE BLOCK [STEP]`, BLOCK a `dataflex:` block as JSON. Says each
step on a line of its own; in STEP it says so once the step's weights are there, and then goes no further.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from local_queue import local_queue
from toy_loop import loop_config, make_loop


def said(trainer: Any, rollout: Any) -> dict[str, Any]:
    """What the last step trained on, and with what."""
    metrics, update = trainer.logged[-1], trainer.actor_rollout_wg.updates[-1]
    return {
        "step": metrics["training/global_step"],
        "drawn": rollout.drawn[-1],
        "weights": update["weights"].tolist(),
        "loss": update["loss"],
        "shares": {name: value for name, value in metrics.items() if name.startswith("dataflex/prop_")},
    }


def say(**what: Any) -> None:
    print(json.dumps(what), flush=True)


def main(folder: str, mode: str, block: str, stop_in: str = "0") -> None:
    trainer, rollout = make_loop(loop_config(Path(folder), mode, json.loads(block)))
    say(resumed_from=trainer.global_steps, incarnation=trainer._dataflex_run.handle["incarnation"])
    collected, computed = trainer._collected, trainer._compute_metrics

    def stop(*args: Any) -> None:
        collected(*args)
        if trainer.global_steps == int(stop_in):
            say(in_step=trainer.global_steps)
            signal.pause()

    def tell(*args: Any, **named: Any) -> None:
        computed(*args, **named)
        say(**said(trainer, rollout))

    trainer._collected, trainer._compute_metrics = stop, tell
    trainer.fit(rollout)


if __name__ == "__main__":
    with local_queue():
        main(*sys.argv[1:])
