"""What holds for every test: a slow machine is no failure, and CI draws the same examples each time."""

import os

from hypothesis import HealthCheck, settings

pytest_plugins = ("tests.servers.fixtures",)

settings.register_profile("house", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("house"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "house")
