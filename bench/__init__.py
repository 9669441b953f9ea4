"""Measurements, each next to a floor of the same run."""

import os

# Before numpy is loaded: a scan on several threads ends sooner and takes more processor time, which differs from machine to machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
