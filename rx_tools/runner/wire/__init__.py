"""The tinker adapter of the service port: connecting, limits, failures told apart, patience."""
