"""How plans, problems and findings look. Exceptions and results hold data; the text is made here."""
