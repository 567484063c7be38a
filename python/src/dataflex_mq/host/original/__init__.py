"""
Components written for DataFlex-RL run as they are: their base classes and registry under the names that they import, and the batch
that they read. Nothing here is taken from that package, and it need not be installed.
"""
