import subprocess
import sys

TASKS = """
import gc
from kiplint.pipeline import workers as worker

worker.settle()
before = gc.get_freeze_count()
worker.in_a_task = lambda: True
lasting = [[] for _ in range(worker.PUT_ASIDE + 1)]
worker.settle()
first = gc.get_freeze_count()
little = [[] for _ in range(worker.PUT_ASIDE // 2)]
worker.settle()
print(gc.isenabled(), before, first > len(lasting), gc.get_freeze_count() == first)
"""


def test_what_outlives_tasks_is_put_aside_once_there_is_enough_of_it() -> None:
    done = subprocess.run((sys.executable, "-c", TASKS), capture_output=True, text=True, check=True)
    assert done.stdout == "False 0 True True\n"
