"""The whole run: its beginning, its clearance, its order, its record and its end."""
