"""Driver of `--engine spark`: hands units of work to executors, which run the engine as a process each.

usage: spark-submit driver.py WORK   (environment: XML2ER_PARENT, the process that this one must not outlive)
What WORK holds is told in src/tools/spark-work.ts. Lines on stdout that start with `@spark ` are for xml2er.
"""

import json
import os
import shutil
import subprocess
import sys
import threading
import time

from pyspark import SparkConf, SparkContext


def tell(**facts):
    print("@spark " + json.dumps(facts), flush=True)


def started(pid):
    """When the process started, in ticks since boot: a number may belong to another one by now. None: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2 :].split()
    return None if fields[0] in "ZX" else fields[19]


def end_with_parent(context, work, orphaned):
    """Stops the application when whoever started it is gone, however it went."""
    pid = os.environ.get("XML2ER_PARENT")
    if pid is None or not sys.platform.startswith("linux"):
        return
    first = started(pid)

    def watch():
        while first is not None and started(pid) == first:
            time.sleep(0.5)
        orphaned.set()
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


def run_unit(work, command):
    """What an executor does with a unit: the engine as a process, whose stdin ends with the executor."""

    def run(number):
        child = subprocess.Popen(command + [work, str(number)], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            complaint = child.stderr.read().decode("utf-8", "replace")
            code = child.wait()
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
        # an attempt that ended by itself has said how in its report; all else is tried again by Spark
        if code != 0:
            raise RuntimeError(f"unit {number}: the engine ended with {code}: {complaint[-2000:]}")
        return number

    return run


def watch_progress(context, total, done):
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
            tell(done=finished, of=total)


def main():
    work = sys.argv[1]
    with open(os.path.join(work, "job.json"), encoding="utf-8") as file:
        job = json.load(file)
    context = SparkContext(conf=SparkConf().setAppName(job["name"]))
    orphaned = threading.Event()
    end_with_parent(context, work, orphaned)
    tell(application=context.applicationId, master=context.master)
    total = job["units"]
    done = threading.Event()
    progress = threading.Thread(target=watch_progress, args=(context, total, done), daemon=True)
    progress.start()
    try:
        context.parallelize(range(total), total).map(run_unit(work, job["command"])).count()
    finally:
        done.set()
        progress.join(5)
        if orphaned.is_set():
            # the watching thread cleans up, and ends this process
            threading.Event().wait(30)
        context.stop()


if __name__ == "__main__":
    main()
