"""Which examples hypothesis tries: the same in every run of the tests, and other ones each time in the profile `explore`."""

from __future__ import annotations

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.conjecture.providers import HypothesisProvider
from hypothesis.internal.constants_ast import Constants

TIME_CHECKS = [HealthCheck.too_slow]
"""The check that fails where a machine is busy."""

settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50, suppress_health_check=TIME_CHECKS)
settings.register_profile(
    "explore", deadline=None, derandomize=False, max_examples=2000, suppress_health_check=TIME_CHECKS, print_blob=True
)
settings.load_profile("ci")

NONE = Constants()


def _constants(_: HypothesisProvider) -> Constants:
    """What examples may have in them besides: the constants of all modules of ours that have been imported by then.

    Which these are depends on the tests that have run before in the same process, and so would the examples.
    """
    return NONE if settings.default.derandomize else providers._get_local_constants()


HypothesisProvider._local_constants = property(_constants)  # type: ignore[assignment, method-assign]
