"""The plan: every number of a deployment worked out, each with its reason."""
