"""Bounds of a control message (headers, handles, settings): far above any real one, far below what hurts."""

MESSAGE_MAX_BYTES = 64 << 20
MESSAGE_MAX_DEPTH = 16
MESSAGE_MAX_STRING_BYTES = 1 << 20
