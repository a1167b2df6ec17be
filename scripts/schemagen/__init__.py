"""The generator of strict JSON schemas, from the OpenAPI files and CRDs inside Go modules."""
