"""The only folder that speaks Redis. Names and scripts are the service's (docs/protocol.md section 5)."""
