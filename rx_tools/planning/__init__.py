"""From a spec to a frozen plan: pure, explicit, and asking by name for what prose leaves open."""
