"""The command line: click only. One module per command; heavy imports inside it."""
