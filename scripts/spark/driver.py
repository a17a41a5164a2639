"""Driver of `--engine spark`: hands units of work to executors, which run the engine as a process (xml2er_engine.py).

usage: spark-submit --py-files xml2er_engine.py driver.py WORK

WORK is a folder that the driver and all executors see under the same path. `order.json` there says what is to be done: `number`, of the
order, from 0; `folder`, below WORK; `units` (their count), `numbers` (those that are to be done, where that is not all of them) and
`command`, which executors start with the folder and ask for units; relative paths in it lie in `spark.archives`; and `mark`, a word that
no document can know. What a unit is, and
what comes of it, is between the command and the tool that made the folder (src/tools/load/spark/work.ts). When an order is done the tool
writes the next one over it, or one with `end`. `name`, in each of them, is that of the application.

What follows `@spark MARK ` in lines of stdout are facts for that tool. Where it did not start this process itself (cluster mode: no
XML2ER_PARENT in the environment) it reads them, and all other output, from `driver.log` in WORK. The driver ends with the tool: when
its process is gone, or the file `lease` is, or nobody has renewed that for a while.
"""

import functools
import json
import os
import re
import shutil
import sys
import threading
import time
import traceback

import xml2er_engine
from pyspark import SparkConf, SparkContext

# seconds without a sign of life after which the tool counts as gone; it renews its lease every two
LEASE = 60

# seconds after which the end of an order is told again, while there is no other: a line may get lost between those of others
AGAIN = 2

# loggers of Spark that say something of every task, in the driver or, of a local master, in its only executor
PER_TASK = [
    "api.python.PythonRunner",
    "executor.Executor",
    "scheduler.TaskSetManager",
    "storage.BlockManagerInfo",
    "storage.memory.MemoryStore",
]


def tell(mark, **facts):
    """In one write: what other threads, and Java, write stands before or behind it."""
    os.write(1, f"@spark {mark} {json.dumps(facts)}\n".encode())


def leave_out_tasks(context):
    """Lines that every task would have in the driver's log: of a job of many thousand tasks they would be all that is in it."""
    if context.getConf().get("spark.log.level") is not None:
        return
    log4j = context._jvm.org.apache.logging.log4j
    for name in PER_TASK:
        log4j.core.config.Configurator.setLevel(f"org.apache.spark.{name}", log4j.Level.WARN)


def started(pid):
    """When the process started, in ticks since boot: a number may belong to another one by now. None: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[0] in "ZX" else fields[19]


def read_lease(work):
    """What the tool wrote last; None where it has ended and taken the folder with it."""
    try:
        with open(os.path.join(work, "lease"), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None


def wait_for_end_of_tool(work):
    pid = os.environ.get("XML2ER_PARENT")
    first = started(pid) if pid is not None and sys.platform.startswith("linux") else None
    lease, renewed = read_lease(work), time.monotonic()
    while True:
        time.sleep(0.5)
        if first is not None and started(pid) != first:
            return "its process is gone"
        now = read_lease(work)
        if now is None:
            return "it has removed its work folder"
        if now != lease:
            lease, renewed = now, time.monotonic()
        elif time.monotonic() - renewed > LEASE:
            return f"it has given no sign of life for {LEASE} s"


def end_with_tool(context, work, orphaned):
    """Stops the application when whoever started it is gone, however it went."""

    def watch():
        why = wait_for_end_of_tool(work)
        orphaned.set()
        print(f"the application ends with the tool that started it: {why}", file=sys.stderr, flush=True)
        try:
            threading.Timer(10, lambda: os._exit(1)).start()
            context.cancelAllJobs()
            context.stop()
        finally:
            # nobody is left to read what was staged; an attempt may still end
            for _ in range(20):
                shutil.rmtree(work, ignore_errors=True)
                time.sleep(0.1)
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def watch_progress(context, mark, total, done):
    tracker = context.statusTracker()
    told = -1
    while not done.wait(0.5):
        finished = sum(
            stage.numCompletedTasks
            for stage in map(tracker.getStageInfo, tracker.getActiveStageIds())
            if stage is not None
        )
        if finished != told:
            told = finished
            tell(mark, done=finished, of=total)


def read_order(work):
    # opened anew each time: a network mount asks for it, then
    with open(os.path.join(work, "order.json"), encoding="utf-8") as file:
        return json.load(file)


def next_order(work, mark, number):
    """Waits for the order of that number. A tool that is gone ends this process."""
    told = time.monotonic()
    while True:
        try:
            order = read_order(work)
            if order["number"] == number:
                return order
        except (OSError, ValueError):
            # it is being written, or all is gone
            pass
        time.sleep(0.1)
        if time.monotonic() - told > AGAIN:
            tell(mark, order=number - 1)
            told = time.monotonic()


def run_order(context, order):
    numbers = order.get("numbers", range(order["units"]))
    total = len(numbers)
    done = threading.Event()
    progress = threading.Thread(target=watch_progress, args=(context, order["mark"], total, done), daemon=True)
    progress.start()
    run = functools.partial(xml2er_engine.run_unit, order["folder"], order["command"])
    try:
        context.parallelize(numbers, total).map(run).count()
    finally:
        done.set()
        progress.join(5)
    tell(order["mark"], done=total, of=total)
    tell(order["mark"], order=order["number"])


def run_application(work, order):
    context = SparkContext(conf=SparkConf().setAppName(order["name"]))
    orphaned = threading.Event()
    end_with_tool(context, work, orphaned)
    leave_out_tasks(context)
    tell(order["mark"], application=context.applicationId, master=context.master)
    try:
        while "end" not in order:
            run_order(context, order)
            order = next_order(work, order["mark"], order["number"] + 1)
    finally:
        if orphaned.is_set():
            # the watching thread cleans up, and ends this process
            threading.Event().wait(30)
        context.stop()


def main():
    work = sys.argv[1]
    if "XML2ER_PARENT" not in os.environ:
        log = os.open(os.path.join(work, "driver.log"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for stream in (1, 2):
            os.dup2(log, stream)
    order = read_order(work)
    try:
        run_application(work, order)
    except Exception as error:
        found = re.search(r"RuntimeError: @unit (.*?) @", str(error), re.DOTALL)
        if found is not None:
            tell(order["mark"], failure=found.group(1))
        traceback.print_exc()
        sys.exit(1)


if __name__ == "__main__":
    main()
