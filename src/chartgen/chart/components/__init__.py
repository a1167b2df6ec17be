"""One module for each concern of a chart: what it shows, from which decisions, and what it forbids."""
