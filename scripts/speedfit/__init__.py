"""Fits the efficiencies of the speed model to published measurements, and says how well they hold."""
