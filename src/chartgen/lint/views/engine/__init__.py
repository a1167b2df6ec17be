"""The engine view: a container that runs a model server, with everything that is known of it."""
