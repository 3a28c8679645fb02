"""The thin shell that measures and trains through the service port."""
