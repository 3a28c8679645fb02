"""One arm, exactly once: opening, pipeline, hygiene, recovery, resume, scoring."""
