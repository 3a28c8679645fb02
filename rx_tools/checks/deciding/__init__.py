"""From a frozen rule and raw rows to a verdict: pure, exact, and never an exception."""
