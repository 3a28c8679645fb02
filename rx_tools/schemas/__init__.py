"""The contract as JSON Schema 2020-12 files: the single source of truth for shapes."""
