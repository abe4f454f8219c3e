import subprocess
import sys

TASKS = """
import gc
from kiplint.pipeline.worker import settle

settle()
first = gc.get_freeze_count()
little = [[] for _ in range(first // 10)]
settle()
second = gc.get_freeze_count()
much = [[] for _ in range(first // 5)]
settle()
third = gc.get_freeze_count()
print(gc.isenabled(), second == first, third >= first + len(little) + len(much), len(gc.get_objects()) < len(little))
"""


def test_what_outlives_tasks_is_put_aside_once_there_is_enough_of_it() -> None:
    done = subprocess.run((sys.executable, "-c", TASKS), capture_output=True, text=True, check=True)
    assert done.stdout == "False True True True\n"
