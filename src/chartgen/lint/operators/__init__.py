"""Kinds and values files that spell a pod in their own words, each completed to the pod that will run."""
