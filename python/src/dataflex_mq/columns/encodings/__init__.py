"""One file per encoding: from a token source to its parts, and from its parts to a column."""
