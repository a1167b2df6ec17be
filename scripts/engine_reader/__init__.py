"""Reads what a vLLM release knows out of its Python sources by syntax tree: nothing of it is ever imported."""
