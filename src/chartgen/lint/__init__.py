"""The witness: reads any manifest back and names what will break, where, and what to write instead."""
