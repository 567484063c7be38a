"""The process in which a worker runs Python components: `python -m dataflex_mq.host`."""
