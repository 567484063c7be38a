"""Columns of a batch: dtypes, encodings, layout, masks and spans, chunks, taking rows."""
