"""From a chart as data to files in memory, and from there to disk in one step."""
