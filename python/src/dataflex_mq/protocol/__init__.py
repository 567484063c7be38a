"""The messages that carry columns: limits, msgpack, ids."""
