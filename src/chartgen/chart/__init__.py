"""From a plan to a chart: which files it needs, and which values they read. No text yet."""
