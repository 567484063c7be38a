"""Weights in the form of the trainer's mask: padded or ragged, NumPy or torch, on its device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..columns.device import is_torch_tensor, jagged_parts, torch_module
from ..columns.dtypes import ONE_BITS, bits_of
from ..columns.input import to_field_value
from ..columns.input_types import FieldValue
from ..columns.spans import mask_spans
from ..columns.tensor import Jagged, MaskColumn
from ..errors import error
from .compose import RowWeights, Weights
from .placement import numpy_float, torch_float, torch_place


def like_mask(weights: Weights, column: MaskColumn, given: Any, existing: Any, dtype: Any, device: Any) -> Any:
    """
    Step 5 of the composition, as `given`, the mask that the loss reads, is. `column` is that mask decoded. Padded or lists: (rows, L), 0
    outside the mask. Ragged: a value for each of the mask's tokens. `existing` has the mask's form, or is None.
    """
    if is_torch_tensor(given):
        ragged = given.is_nested
        where, kind = torch_place(device, given.device), torch_float(dtype)
        out = _torch_ragged(weights, given, existing) if ragged else _torch_padded(weights, given, existing)
        placed = out.to(device=where, dtype=kind)
        return _nested_like(given, placed) if ragged else placed
    wanted = numpy_float(dtype)
    value = to_field_value("response_mask", given)
    if isinstance(value, Jagged) and not isinstance(given, (list, tuple)):
        values = _flat(weights, value, existing).astype(wanted)
        return Jagged(f"f{8 * wanted.itemsize}", values, value.lengths, value.width)
    return _padded(weights, column, existing).astype(wanted)


def _padded(weights: Weights, column: MaskColumn, existing: Any) -> np.ndarray:
    inside = mask_spans(column).inside(0, column.rows)
    out = np.zeros((column.rows, column.width), dtype=np.float32)
    _fill(out, inside, weights)
    if existing is None:
        return out
    held = np.asarray(existing.cpu() if is_torch_tensor(existing) else existing)
    _same_shape(held.shape, out.shape)
    return corrected(np, out, held, inside, lambda at: divmod(at, column.width))


def _flat(weights: Weights, mask: Jagged, existing: Any) -> np.ndarray:
    inside = bits_of(mask.values) == ONE_BITS[mask.dtype]
    if isinstance(weights, RowWeights):
        out = np.where(inside, np.repeat(weights.values, mask.lengths), np.float32(0))
    else:
        out = np.zeros(len(mask.values), dtype=np.float32)
        out[inside] = weights.values
    if existing is None:
        return out
    held: FieldValue = to_field_value("existing", existing)
    if not isinstance(held, Jagged) or not np.array_equal(held.lengths, mask.lengths):
        raise error(
            "INVALID_INPUT", "existing rollout_is_weights have other rows than the mask; send them ragged alike"
        )
    return corrected(np, out, held.values, inside, _flat_place(mask.lengths))


def _fill(out: np.ndarray, inside: np.ndarray, weights: Weights) -> None:
    if isinstance(weights, RowWeights):
        np.copyto(out, weights.values[:, None], where=inside)
    else:
        out[inside] = weights.values


def _torch_padded(weights: Weights, mask: Any, existing: Any) -> Any:
    torch = torch_module()
    inside = mask.detach() == 1
    values = torch.from_numpy(weights.values).to(mask.device)
    if isinstance(weights, RowWeights):
        out = torch.where(inside, values[:, None], 0.0)
    else:
        out = torch.zeros(mask.shape, dtype=torch.float32, device=mask.device)
        out[inside] = values
    if existing is None:
        return out
    held = torch.as_tensor(existing, device=mask.device).detach()
    _same_shape(tuple(held.shape), tuple(out.shape))
    return corrected(torch, out, held, inside, lambda at: divmod(at, int(mask.shape[1])))


def _torch_ragged(weights: Weights, mask: Any, existing: Any) -> Any:
    torch = torch_module()
    flat, lengths = jagged_parts(mask)
    inside = flat == 1
    values = torch.from_numpy(weights.values).to(flat.device)
    if isinstance(weights, RowWeights):
        counts = torch.from_numpy(lengths.astype(np.int64)).to(flat.device)
        out = torch.where(inside, torch.repeat_interleave(values, counts, output_size=flat.shape[0]), 0.0)
    else:
        out = torch.zeros(flat.shape[0], dtype=torch.float32, device=flat.device)
        out[inside] = values
    if existing is None:
        return out
    if not existing.is_nested:
        raise error("INVALID_INPUT", "existing rollout_is_weights are padded and the mask is ragged; send them alike")
    held, own = jagged_parts(existing)
    if not np.array_equal(own, lengths):
        raise error(
            "INVALID_INPUT", "existing rollout_is_weights have other rows than the mask; send them ragged alike"
        )
    return corrected(torch, out, held.to(flat.device), inside, _flat_place(lengths))


def corrected(library: Any, weights: Any, existing: Any, inside: Any, place: Callable[[int], tuple[int, int]]) -> Any:
    """
    weights × existing where `inside`, else 0: what `existing` holds elsewhere may be anything, NaN as well. `library`: numpy or torch,
    whichever the arguments are of. `place`: row and column of a flat index. Raises INVALID_INPUT for an existing weight that is negative
    or not finite, or a product beyond float32.
    """
    if existing.dtype.kind not in "fiub" if library is np else existing.is_complex():
        raise error("INVALID_INPUT", f"the existing rollout_is_weights are {existing.dtype}; they must be numbers")
    held = library.where(inside, existing, 1)
    wrong = ~((held >= 0) & library.isfinite(held))
    if bool(wrong.any()):
        row, column = place(int(library.nonzero(wrong.reshape(-1))[0][0]))
        found = held.reshape(-1)[wrong.reshape(-1)][0]
        message = f"the existing rollout_is_weights is {float(found)}; a weight is a finite number from 0"
        raise error("INVALID_INPUT", f"row {row}, column {column}: {message}", {"row": row, "column": column})
    with np.errstate(over="ignore"):
        product = weights * held
        beyond = library.abs(product) > np.finfo(np.float32).max
    if bool(beyond.any()):
        row, column = place(int(library.nonzero(beyond.reshape(-1))[0][0]))
        message = "the existing rollout_is_weights times the step's weight is beyond float32"
        raise error("INVALID_INPUT", f"row {row}, column {column}: {message}", {"row": row, "column": column})
    return library.where(inside, product, 0)


def _flat_place(lengths: np.ndarray) -> Callable[[int], tuple[int, int]]:
    starts = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))

    def place(at: int) -> tuple[int, int]:
        row = int(np.searchsorted(starts, at, side="right")) - 1
        return row, at - int(starts[row])

    return place


def _nested_like(mask: Any, values: Any) -> Any:
    """Ragged with the mask's own row structure, so that torch lets the two be multiplied."""
    torch = torch_module()
    simple = mask.layout == torch.jagged and mask.lengths() is None and values.device == mask.device
    if simple and int(mask.offsets()[0]) == 0 and mask.values().shape[0] == values.shape[0]:
        return torch.nested.nested_tensor_from_jagged(values, offsets=mask.offsets())
    _, lengths = jagged_parts(mask)
    offsets = torch.from_numpy(np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))).to(values.device)
    return torch.nested.nested_tensor_from_jagged(values, offsets=offsets)


def _same_shape(found: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    if found != wanted:
        message = f"existing rollout_is_weights have the shape {found}, the mask {wanted}"
        raise error("INVALID_INPUT", message, {"shape": list(found), "expected": list(wanted)})
