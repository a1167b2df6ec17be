"""What `scripts/tools` is made of: the table of pinned tools, their cache, and how they get there."""
