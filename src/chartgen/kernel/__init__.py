"""What every other part stands on: decisions, units, errors, YAML with positions, data folders."""
