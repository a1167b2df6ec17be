"""Checks before anything is written: objects against strict schemas, and charts by a real Helm."""
