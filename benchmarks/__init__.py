"""Side-by-side runs against peers; never a timed test.

`python -m benchmarks` (or `make bench`) times whole processes in pairs and reports ratios, so that a noisy machine
disturbs both sides alike. `RESULTS.md` beside this file is written by a full run.
"""
