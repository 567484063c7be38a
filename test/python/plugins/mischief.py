"""A scorer that misbehaves on command, on step 13; on others it scores as advantage_magnitude does."""

import ctypes
import os
import re
import signal
import sys
import threading
import time
from typing import Literal

import numpy as np

from dataflex_mq.components import Batch, Context, scorer

print("mischief is imported")

How = Literal[
    "raise", "recursion", "exit", "none", "text", "generator", "coroutine", "short", "matrix", "nan", "infinity", "before",
    "loop", "sleep", "native_loop", "os_exit", "segfault", "abort", "killed", "memory", "fork", "threads", "print", "close", "sigterm",
    "slow_setup",
]  # fmt: skip


class Torn(RuntimeError):
    pass


@scorer("mischief", requires=["advantages"], arrays="numpy")
class Mischief:
    def __init__(self, how: How, broken: bool = False):
        self.how = how
        self.before = None
        if broken:
            raise FileNotFoundError("no such checkpoint")

    def score(self, batch: Batch, ctx: Context):
        tokens = batch.jagged("advantages")
        before, self.before = self.before, tokens.mean()
        scores = np.abs(tokens.values[tokens.offsets[:-1]])
        return scores if ctx.step != 13 else self.misbehave(scores, before)

    def misbehave(self, scores, before):  # noqa: PLR0911
        match self.how:
            case "raise":
                raise Torn("thirteen")
            case "recursion":
                return self.misbehave(scores, before)
            case "exit":
                sys.exit("thirteen")
            case "none":
                return None
            case "text":
                return "thirteen"
            case "generator":
                return (score for score in scores)
            case "coroutine":
                async def later():
                    return scores

                return later()
            case "short":
                return scores[1:]
            case "before":
                return before
            case "matrix":
                return np.stack([scores, scores])
            case "nan":
                return np.where(np.arange(len(scores)) == 1, np.nan, scores)
            case "infinity":
                return scores / 0.0
            case "loop":
                while True:
                    pass
            case "sleep":
                time.sleep(3600)
            case "native_loop":
                re.match(r"(a+)+$", "a" * 64 + "b")
            case "os_exit":
                os._exit(3)
            case "segfault":
                ctypes.string_at(0)
            case "abort":
                os.abort()
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "memory":
                return bytearray(2**40)
            case "fork":
                if os.fork() == 0:
                    return scores * 7
                return scores
            case "threads":
                threading.Thread(target=time.sleep, args=(3600,)).start()
            case "print":
                print("x" * 10_000_000)
                for line in range(20_000):
                    print("line", line)
            case "close":
                os.closerange(0, 64)
            case "sigterm":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                os.kill(os.getpid(), signal.SIGTERM)
        return scores
