"""One file an encoding: its parts out of a token source, and its column out of its parts."""
