"""Real vLLM on a machine without a GPU: cached environments, the release's own parser, the running server."""
