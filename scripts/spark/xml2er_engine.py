"""The engine on an executor: one process of it stays with a Python worker, which gives it one unit of work after the other.

A request is a line on its stdin, the number of a unit. When that is done it answers with a line on its stdout, JSON: `unit`, and `last`,
true where it takes no other one. All else that it does, or that is done to it, fails the attempt and ends it; Spark makes another attempt,
with a new process. It ends when its stdin does, and so with the worker, however that ends (src/tools/load/spark/attempt.ts).

The driver hands this file to executors as a module: what a module knows outlives the task of a worker.
"""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile

from pyspark import SparkFiles

# bytes of what it complained of that are told
COMPLAINT = 2000
# prctl(2)
PR_SET_PDEATHSIG = 1


class Engine:
    def __init__(self, work, command):
        self.started_as = (work, command)
        program, entry = find(command[0]), find(command[1])
        if not os.path.exists(entry):
            # a checkout here and the package there, or the other way round
            entry = find(os.path.splitext(command[1])[0] + (".js" if command[1].endswith(".ts") else ".ts"))
        if not os.path.exists(entry):
            fail(f"{entry} is not there: install this package on all executors, and set svc.spark.package to its folder")
        # a file, as nobody reads a pipe while a unit is under way
        self.complaints = tempfile.TemporaryFile()
        try:
            self.process = subprocess.Popen(
                [program, entry, *command[2:], work],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.complaints,
                preexec_fn=die_with_worker(),
            )
        except OSError as error:
            self.complaints.close()
            fail(f"{program}: {error.strerror}: install Node on all executors, and set svc.spark.node to its path")

    def run(self, number):
        """True: it takes another unit."""
        try:
            self.process.stdin.write(f"{number}\n".encode())
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if line == b"":
            code = self.process.wait()
            fail(f"unit {number}: the engine ended with {code}: {self.complaint()}")
        answer = json.loads(line)
        if answer["unit"] != number:
            fail(f"unit {number}: the engine answered for unit {answer['unit']}")
        return not answer["last"]

    def complaint(self):
        size = self.complaints.seek(0, os.SEEK_END)
        self.complaints.seek(max(0, size - COMPLAINT))
        return self.complaints.read().decode("utf-8", "replace").strip()

    def end(self):
        """It has nothing that is still needed: what it has done is in the work folder, or the target."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdout, self.complaints):
            stream.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            # a request that it did not live to read
            pass


def die_with_worker():
    """What ends a child whose parent is killed, though it may not come to read its stdin; None: this system has no such thing."""
    if not sys.platform.startswith("linux"):
        return None
    prctl, parent = ctypes.CDLL(None).prctl, os.getpid()

    def arrange():
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return arrange


def find(word):
    shipped = os.path.join(SparkFiles.getRootDirectory(), word)
    return word if os.path.isabs(word) or not os.path.exists(shipped) else shipped


def fail(why):
    # the driver looks for the mark: tracebacks of Python and Java stand around it
    raise RuntimeError(f"@unit {socket.gethostname()}: {why} @")


# of this worker; None: it has none yet, or its last one took no other unit
engine = None


def run_unit(work, command, number):
    """What a task does."""
    global engine
    if not os.path.isdir(work):
        fail(f"{work} is not there: svc.spark.work must name a folder that all executors see under the same path")
    stays = False
    try:
        if engine is not None and (engine.started_as != (work, command) or engine.process.poll() is not None):
            engine.end()
            engine = None
        if engine is None:
            engine = Engine(work, command)
        stays = engine.run(number)
    finally:
        if engine is not None and not stays:
            engine.end()
            engine = None
    return number
