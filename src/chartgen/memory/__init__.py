"""The engine's memory, release by release: weights, KV cache, activation, graphs. Facts in, figures out."""
