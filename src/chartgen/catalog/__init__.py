"""Facts with their sources: models, GPUs, engines, clouds, gateways. One file an entry, its name the key."""
