"""Files that prove things: strict reading, publishing, ledger, bundle, secrets, attestation."""
