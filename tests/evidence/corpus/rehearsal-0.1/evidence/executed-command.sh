#!/bin/sh
# Reads TINKER_BASE_URL, TINKER_API_KEY and the proxy tokens from the environment.
rx run small.spec.json --rehearse
