"""Hydra configurations: `hydra.searchpath=[pkg://dataflex_mq.config]`, then `+dataflex=reweight`, `select`, `token` or `mix`."""
