"""One BLAS thread in every test: two on a busy machine were 60 times slower than one.

And Ctrl-C as on a terminal: started in the background, a shell leaves it ignored for every child.
"""

import os
import signal

signal.signal(signal.SIGINT, signal.default_int_handler)

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
