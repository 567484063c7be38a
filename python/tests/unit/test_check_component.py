"""check_component: sound components pass, each usual mistake is found and explained."""

from __future__ import annotations

import random
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dataflex_mq.components import Batch, Context, Series, mixer, reweighter, scorer, selector
from dataflex_mq.components.declaration import DECLARED
from dataflex_mq.testing import ComponentError, check_component

own = scorer("mine", requires=["advantages"], arrays="numpy", rows="independent")
grouped = scorer(
    "mine", requires=[{"name": "rm_scores", "scope": "response"}], needs_groups=True, arrays="numpy", rows="group"
)


@pytest.fixture(autouse=True)
def _nothing_declared():
    DECLARED.take()
    yield
    DECLARED.take()


def failures_of(component: Any, **options: Any) -> list[str]:
    with pytest.raises(ComponentError) as caught:
        check_component(component, **options)
    return caught.value.failures


def mean(batch: Batch) -> np.ndarray:
    return batch.jagged("advantages").mean()


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        ("row", lambda batch: batch.rows("mine")),
        ("numbers", lambda batch: batch.rows("mine")),
        ("features", lambda batch: batch.features("mine").sum(axis=1)),
        ("strings", lambda batch: np.array([len(text) for text in batch.strings("mine")], dtype=np.float64)),
    ],
)
def test_fields_of_every_kind_are_made_as_they_are_required(kind: str, read: Callable[[Batch], np.ndarray]) -> None:
    @scorer("own_kind", requires=[{"name": "mine", "kind": kind}], arrays="numpy", rows="independent")
    def own_kind(batch: Batch, ctx: Context) -> np.ndarray:
        return read(batch)

    check_component(own_kind)


class TestSoundComponents:
    def test_of_rows(self) -> None:
        @own
        def mine(batch: Batch, ctx: Context) -> np.ndarray:
            tokens = batch.jagged("advantages")
            np.abs(tokens.values, out=tokens.values)
            return tokens.mean()

        check_component(mine)

    def test_of_tokens(self) -> None:
        @scorer(requires=["old_log_probs"], granularity="token", arrays="numpy", rows="independent")
        def mine(batch: Batch, ctx: Context) -> np.ndarray:
            return np.exp(batch.padded("old_log_probs"))

        check_component(mine)

    def test_of_groups(self) -> None:
        @grouped
        def mine(batch: Batch, ctx: Context) -> np.ndarray:
            return batch.groups.mean(batch.jagged("rm_scores").sum() > 0.5)

        check_component(mine)

    def test_with_random_numbers_of_the_context(self) -> None:
        @scorer("mine", requires=[], arrays="numpy")
        def mine(batch: Batch, ctx: Context) -> np.ndarray:
            return ctx.random.random(len(batch))

        check_component(mine, skip=["permutation"])

    def test_reweighters(self) -> None:
        @reweighter(arrays="numpy", in_log_space=True)
        def mine(scores: np.ndarray, batch: Batch, ctx: Context, *, temperature: float = 1.0) -> np.ndarray:
            return scores / temperature

        @reweighter(accepts="token", arrays="numpy")
        def blend(scores: np.ndarray, batch: Batch, ctx: Context, *, alpha: float = 0.5) -> np.ndarray:
            return alpha * scores + 1 - alpha

        check_component(mine, params={"temperature": 0.5})
        check_component(blend)

    def test_selectors_that_remember(self) -> None:
        @selector(arrays="numpy")
        class Mine:
            def act(self, scores: np.ndarray, batch: Batch, ctx: Context) -> np.ndarray:
                return scores >= np.median(scores)

            def remember(self, scores: np.ndarray, batch: Batch, ctx: Context) -> dict[str, float]:
                return {"mean": float(scores.mean())}

        check_component(Mine)

    def test_mixers(self) -> None:
        @mixer()
        def mine(series: Series, ctx: Context) -> np.ndarray:
            gap = np.exp((series.means.max() - series.means).clip(max=50))
            return gap / gap.sum()

        check_component(mine)

    def test_fields_of_ones_own(self) -> None:
        @scorer(requires=["turns"], arrays="numpy", rows="independent")
        def mine(batch: Batch, ctx: Context) -> np.ndarray:
            return 1 / batch.rows("turns")

        check_component(
            mine, fields={"turns": lambda rng, lengths: rng.integers(1, 9, len(lengths)).astype(np.float32)}
        )


def short(batch: Batch, ctx: Context) -> Any:
    return mean(batch)[1:]


def no_array(batch: Batch, ctx: Context) -> Any:
    return "high"


def complex_numbers(batch: Batch, ctx: Context) -> Any:
    return np.sqrt(mean(batch).astype(complex))


def half(batch: Batch, ctx: Context) -> Any:
    return mean(batch).astype(np.float16)


def not_a_number(batch: Batch, ctx: Context) -> Any:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.log(mean(batch))


def by_order(batch: Batch, ctx: Context) -> Any:
    return mean(batch) * np.arange(len(batch))


def by_width(batch: Batch, ctx: Context) -> Any:
    return batch.padded("advantages").mean(-1)


def by_batch(batch: Batch, ctx: Context) -> Any:
    return mean(batch) - mean(batch).mean()


def in_place(batch: Batch, ctx: Context) -> Any:
    first = batch.jagged("advantages").values
    np.abs(first, out=first)
    return mean(batch)


def unseeded(batch: Batch, ctx: Context) -> Any:
    return mean(batch) + np.random.random(len(batch))


def unseeded_too(batch: Batch, ctx: Context) -> Any:
    return mean(batch) + random.random()


def generator_of_its_own(batch: Batch, ctx: Context) -> Any:
    return mean(batch) + np.random.default_rng().random(len(batch))


def clock(batch: Batch, ctx: Context) -> Any:
    return mean(batch) + time.time_ns() % 1_000_003


def one_row(batch: Batch, ctx: Context) -> Any:
    values = mean(batch)
    return values if len(values) > 1 else values[[1]]


def equal(batch: Batch, ctx: Context) -> Any:
    values = mean(batch)
    if values.std() == 0:
        raise ZeroDivisionError("float division by zero")
    return values


def undeclared(batch: Batch, ctx: Context) -> Any:
    return batch.jagged("old_log_probs").mean()


@pytest.mark.parametrize(
    ("score", "text"),
    [
        (short, "it returned shape (7,), expected one number a row: (8,)"),
        (no_array, "it returned a str, expected one number a row"),
        (complex_numbers, "it returned an array of complex128"),
        (half, "precision, two groups of four: it returns float16"),
        (not_a_number, "finite, two groups of four: row "),
        (by_order, "permutation, two groups of four: with its rows in another order, row "),
        (by_width, "padding, two groups of four: padded by 3 more tokens, row 0 is "),
        (by_batch, 'it is declared rows="independent", but rows [0, 2, 4, 6] alone: row 0 is '),
        (in_place, "it changes in place what it reads again (row "),
        (unseeded, "unless the global generators are seeded alike: draw random numbers from ctx.random"),
        (unseeded_too, "unless the global generators are seeded alike: draw random numbers from ctx.random"),
        (generator_of_its_own, "two runs on the same batch differ: a step that is done again must get the same answer"),
        (clock, "two runs on the same batch differ: a step that is done again must get the same answer"),
        (one_row, "one row: it raised IndexError: "),
        (equal, "all values equal: it raised ZeroDivisionError: float division by zero"),
        (undeclared, "there is no field 'old_log_probs' in this batch (it has advantages); declare it in requires"),
    ],
)
def test_a_usual_mistake_is_found(score: Callable[..., Any], text: str) -> None:
    assert text in "\n".join(failures_of(own(score)))


class TestMistakesOfClassesAndKinds:
    def test_hidden_state(self) -> None:
        @own
        class Mine:
            def __init__(self) -> None:
                self.seen = 0.0

            def score(self, batch: Batch, ctx: Context) -> np.ndarray:
                self.seen += float(mean(batch).sum())
                return mean(batch) - self.seen

        assert "hidden_state, two groups of four: what it scored before changes its answer (row 0 is " in "\n".join(
            failures_of(Mine)
        )

    def test_a_constructor_or_set_up_that_raises(self) -> None:
        @own
        class Mine:
            def setup(self, device: str) -> None:
                raise FileNotFoundError("no such checkpoint")

            def score(self, batch: Batch, ctx: Context) -> np.ndarray:
                return mean(batch)

        assert failures_of(Mine)[0] == "two groups of four: it raised FileNotFoundError: no such checkpoint"

    def test_groups_that_see_each_other(self) -> None:
        @grouped
        def mine(batch: Batch, ctx: Context) -> np.ndarray:
            rewards = batch.jagged("rm_scores").sum()
            return batch.groups.mean(rewards) - rewards.mean()

        assert 'it is declared rows="group", but rows [0, 1, 2, 3] alone: row 0 is ' in "\n".join(failures_of(mine))

    def test_one_group(self) -> None:
        @grouped
        def mine(batch: Batch, ctx: Context) -> np.ndarray:
            rewards = batch.jagged("rm_scores").sum()
            first, second, *_ = batch.groups.members()
            return rewards * len(first) / len(second)

        assert any(
            line.startswith("one group: it raised ValueError: not enough values to unpack")
            for line in failures_of(mine)
        )

    def test_a_field_that_is_never_read(self) -> None:
        @scorer("mine", requires=["advantages", "old_log_probs"], arrays="numpy")
        def mine(batch: Batch, ctx: Context) -> np.ndarray:
            return mean(batch)

        assert failures_of(mine) == ["requires: it never reads old_log_probs: the trainer would send it for nothing"]

    def test_a_weight_below_zero(self) -> None:
        @reweighter("mine", arrays="numpy")
        def mine(scores: np.ndarray, batch: Batch, ctx: Context) -> np.ndarray:
            return scores - scores.mean()

        assert "has a weight below 0: weights are >= 0" in failures_of(mine)[0]

    def test_a_row_that_there_is_not(self) -> None:
        @selector("mine", arrays="numpy")
        def mine(scores: np.ndarray, batch: Batch, ctx: Context) -> list[int]:
            return [len(scores)]

        assert failures_of(mine)[0] == "two groups of four: it kept row 8, but there are 8 rows"

    def test_what_cannot_be_remembered(self) -> None:
        @selector("mine", arrays="numpy")
        class Mine:
            def act(self, scores: np.ndarray, batch: Batch, ctx: Context) -> np.ndarray:
                return scores > -1

            def remember(self, scores: np.ndarray, batch: Batch, ctx: Context) -> float:
                return float(scores.mean())

        assert "it remember returned a float, expected names with numbers" in failures_of(Mine)[0]

    def test_shares_that_do_not_sum_to_one(self) -> None:
        @mixer("mine")
        def mine(series: Series, ctx: Context) -> np.ndarray:
            return np.exp(series.means - series.means.max())

        assert any("the shares sum to " in line for line in failures_of(mine))

    def test_a_mixer_by_the_order_of_domains(self) -> None:
        @mixer("mine")
        def mine(series: Series, ctx: Context) -> np.ndarray:
            shares = np.arange(1.0, len(series.domains) + 1)
            return shares / shares.sum()

        assert "order, three domains: with the domains in another order the shares are others" in failures_of(mine)

    def test_what_is_no_component(self) -> None:
        with pytest.raises(ValueError, match="is no component: decorate it"):
            check_component(mean)

    def test_a_parameter_that_is_missing(self) -> None:
        @own
        def mine(batch: Batch, ctx: Context, *, power: float) -> np.ndarray:
            return mean(batch) ** power

        with pytest.raises(ValueError, match="scorer 'mine' needs a value for power"):
            check_component(mine)


class TestOfAFile:
    SOUND = """
        import numpy as np
        from dataflex_mq.components import scorer

        @scorer(requires=["advantages"], arrays="numpy", rows="independent")
        def mine(batch, ctx):
            return batch.jagged("advantages").mean()
        """

    def file(self, folder: Path, text: str) -> Path:
        path = folder / "mine.py"
        path.write_text(textwrap.dedent(text))
        return path

    def test_it_is_loaded_as_a_worker_does(self, tmp_path: Path) -> None:
        check_component(self.file(tmp_path, self.SOUND), "mine")

    def test_a_slow_import(self, tmp_path: Path) -> None:
        file = self.file(tmp_path, "import time\ntime.sleep(0.4)\n" + textwrap.dedent(self.SOUND))
        (line,) = failures_of(file, import_seconds=0.2)
        assert line.startswith(f"import: importing {file} takes 0.")
        assert "load models and data in setup(device)" in line

    def test_an_import_that_only_this_process_can_make(self, tmp_path: Path) -> None:
        text = "import sys\nassert 'pytest' in sys.modules, 'only under pytest'\n" + textwrap.dedent(self.SOUND)
        (line,) = failures_of(self.file(tmp_path, text))
        assert "a process of its own cannot import" in line
        assert "only under pytest" in line

    def test_one_of_several_has_to_be_named(self, tmp_path: Path) -> None:
        file = self.file(tmp_path, textwrap.dedent(self.SOUND) + textwrap.dedent(self.SOUND).replace("mine", "other"))
        with pytest.raises(ValueError, match="has several components: name one of mine, other"):
            check_component(file)
        with pytest.raises(ValueError, match="has no component 'third'"):
            check_component(file, "third")
