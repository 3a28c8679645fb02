"""Numbers: parity errors, spectra, reference optimizers, intervals, exact sums."""
