"""From a workload profile to a complete, validated, explained Helm chart for vLLM on Kubernetes."""

__version__ = "0.1.0"
