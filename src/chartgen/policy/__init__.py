"""Policies as data: one YAML file is the rule, its page and its test."""
