"""Views: the normalised things that policies speak of, built once for each bundle."""
