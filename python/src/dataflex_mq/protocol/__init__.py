"""The contract: values and their bytes. Pure: knows no Redis. docs/protocol.md is the description."""
