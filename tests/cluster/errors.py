"""What goes wrong with a test cluster, said once and clearly."""

from __future__ import annotations


class ClusterError(Exception):
    """A program of the cluster did not start, died, or did not answer; the text holds the end of its log."""
