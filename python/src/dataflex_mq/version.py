"""Version of this package; a test compares it with pyproject.toml."""

__version__ = "0.1.0"
