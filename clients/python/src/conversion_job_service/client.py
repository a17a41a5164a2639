"""Uploads, runs, follows and waits."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import httpx

from . import models
from ._transport import is_busy, pause_before, problem_of
from .async_operations import AsyncOperations
from .errors import JobFailed, Problem, ServiceError, WaitTimeout
from .operations import Operations

if TYPE_CHECKING:
    from typing_extensions import TypeAlias

    File: TypeAlias = "str | PathLike[str]"

#: bytes that an upload reads at once
_PIECE = 1 << 18
#: lines of the log that a failure tells
_TAIL = 20


def option(flag: str, value: object = None) -> models.CommandItem:
    """One option of a tool: `option("-o", "metadb:orders")`."""
    return {"command": flag} if value is None else {"command": flag, "value": str(value)}


def execution(
    app_name: str,
    file: str | None = None,
    *,
    origin: int | str | None = None,
    target: str | None = None,
    options: Iterable[models.CommandItem] = (),
) -> models.Execution:
    """One job of a request.

    `file`: a path as `upload` answered it. `origin`: the schema, by id, by name or as "$0" (what execution 0 of the same request makes).
    `target`: where rows go, "metadb:SCHEMA" for the service's own database.
    """
    made: models.Execution = {"app_name": app_name}
    source: models.ExecutionSource = {}
    if file is not None:
        source["file"] = {"command": file}
    if origin is not None:
        source["origin_id"] = option("-x", origin)
    if source:
        made["source"] = source
    wanted: models.ExecutionTarget = {}
    if target is not None:
        wanted["path"] = option("-o", target)
    generation = list(options)
    if generation:
        wanted["generation"] = generation
    if wanted:
        made["target"] = wanted
    return made


def _result(job: models.Job) -> dict[str, Any]:
    try:
        found = json.loads(job["params_json"]).get("result")
    except (ValueError, AttributeError):
        return {}
    return found if isinstance(found, dict) else {}


#: by state: why a job did not complete where nothing more is known, in a word and in a sentence
_ENDS = {
    "F": ("failed", "it did not complete"),
    "K": ("killed", "it was killed"),
    "E": ("expired", "its deadline passed"),
    "L": ("lost", "its worker died, and its attempts are spent"),
}


def _failure(job: models.Job, rejects: Sequence[models.CILReject], log: str) -> JobFailed:
    code, summary = _ENDS.get(job["status"], _ENDS["F"])
    told = next((one["code"] for one in rejects if one["code"]), None)
    return JobFailed(job, told or code, job["failure"] or summary, log)


@dataclass(frozen=True)
class Conversion:
    """What `convert` did. `rows` by table; `result` is the summary of the tool, as its `--json` prints it."""

    job: models.Job
    details: models.CILJobDetailsDto
    result: dict[str, Any]

    @property
    def id_sch(self) -> int:
        """The schema, for `get_schema`, `get_schema_ddl`, `list_mappings`."""
        found = self.job["id_sch"]
        if found is None:
            raise ServiceError(f"job {self.job['id_job']} has no schema")
        return found

    @property
    def rows(self) -> dict[str, int]:
        return {table["table_name"]: table["rows"] for table in self.details["tables"]}


class Client(Operations):
    """`Client("http://127.0.0.1:8080", key)`; every operation of the interface is a method, and these make them easy."""

    def upload(
        self, file: File, kind: Literal["xml", "xsd"] = "xml", *, name: str | None = None
    ) -> str:
        """Uploads a file as a stream, whatever its size; its path for `execution`.

        `.gz`, `.zip`, `.tar` and `.tgz` are read as they are. `name`: another name than the file's own.
        """
        path = Path(file)
        if path.is_dir():
            raise IsADirectoryError(
                f"{path} is a folder, and upload takes one file. Pack the folder and upload the archive: "
                f"client.upload(shutil.make_archive({path.resolve().name!r}, 'zip', {str(path)!r}){'' if kind == 'xml' else ', ' + repr(kind)})"
            )
        attempt = 0
        while True:
            token = self.create_upload_token({"kind": kind})["token"]
            answer: httpx.Response | None = None
            send = self.upload_xml if kind == "xml" else self.upload_xsd
            try:
                return send(_pieces(path), token=token, name=name or path.name)
            except Problem as problem:
                answer = problem.answer
                if answer is None or not is_busy(answer) or attempt >= self._retries:
                    raise
            except httpx.TransportError:
                if attempt >= self._retries:
                    raise
            # each try begins anew with a token of its own
            time.sleep(pause_before(attempt, answer))
            attempt += 1

    def run(
        self,
        executions: Sequence[models.Execution],
        name: str | None = None,
        idempotency_key: str | None = None,
        *,
        wait: int | None = None,
    ) -> models.RunCmdResponse:
        """Queues jobs, which run in order. Sent again with the same key (as it is here, where no answer comes), it makes no others.

        `wait`: seconds, at most 60, that the service waits for them to end; `statuses` of the answer tells how far they are.
        """
        body: models.ExecutionRequest = {"executions": list(executions)}
        if name is not None:
            body["name"] = name
        return self.run_commands(
            body,
            idempotency_key=idempotency_key,
            prefer=None if wait is None else f"wait={wait}",
        )

    def wait(self, id_job: int, timeout: float | None = None, *, poll: float = 1.0) -> models.Job:
        """Waits until a job has ended. Raises `JobFailed` where it did not complete, `WaitTimeout` after `timeout` seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        pause = min(0.1, poll)
        while True:
            job = self.get_execution(id_job)
            if job["end_date"] is not None:
                if job["status"] != "C":
                    raise _failure(job, self._rejects(job), self.get_execution_log_text(id_job, tail=_TAIL))
                return job
            if until is not None and time.monotonic() >= until:
                raise WaitTimeout(id_job, timeout or 0)
            left = pause if until is None else min(pause, max(until - time.monotonic(), 0))
            time.sleep(left)
            pause = min(pause * 1.5, poll)

    def _rejects(self, job: models.Job) -> Sequence[models.CILReject]:
        """Documents that the job refused; none where it had no schema yet."""
        if job["id_sch"] is None:
            return ()
        try:
            name = self.get_schema(job["id_sch"])["name"]
            return self.get_cil_job(name, job["id_job"])["rejects"]
        except Problem:
            return ()  # the failure itself is to be told, whatever else is not to be had

    def follow(self, id_job: int, *, offset: int = 0) -> Iterator[str]:
        """The log of a job, piece by piece, until it ends. A connection that breaks is resumed where it broke: no byte twice.

        `offset`: bytes to leave out at the front.
        """
        attempt = 0
        while True:
            answer: httpx.Response | None = None
            try:
                for place, kind, data in self._events(id_job, offset):
                    offset = place
                    attempt = 0
                    if kind == "end":
                        return
                    if data:
                        yield data
            except httpx.TransportError:
                if attempt >= self._retries:
                    raise
            except _Busy as busy:
                answer = busy.answer
                if attempt >= self._retries:
                    raise problem_of(answer) from None
            # an end without the event `end`: the service ended, or something between
            if attempt >= self._retries:
                raise ServiceError(f"the log of job {id_job} broke off at byte {offset}")
            time.sleep(pause_before(attempt, answer))
            attempt += 1

    def _events(self, id_job: int, offset: int) -> Iterator[tuple[int, str, str]]:
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(offset)}
        with self._http.stream("GET", f"/v2/executions/log/{id_job}", headers=headers) as answer:
            if answer.status_code >= 400:
                answer.read()
                if is_busy(answer):
                    raise _Busy(answer)
                raise problem_of(answer)
            place, kind, lines = offset, "message", list[str]()
            for line in _lines(answer.iter_text()):
                field, _, value = line.partition(":")
                value = value[1:] if value.startswith(" ") else value
                if line == "":
                    if lines or kind == "end":
                        yield place, kind, "\n".join(lines)
                    kind, lines = "message", []
                elif field == "id":
                    place = int(value)
                elif field == "event":
                    kind = value
                elif field == "data":
                    lines.append(value)

    def convert(
        self,
        file: File,
        target: str,
        *,
        xsd: File | None = None,
        origin: int | str | None = None,
        options: Iterable[models.CommandItem] = (),
        timeout: float | None = None,
        idempotency_key: str | None = None,
    ) -> Conversion:
        """Uploads a document (or an archive of them), loads its rows into `target` and waits.

        `xsd`: an XSD, or an archive of a set, that draws the tables; `origin`: a schema that is there; without either it is inferred.
        A SQL schema of the service's own database is "metadb:NAME". `timeout`: seconds for all its jobs.
        """
        if xsd is not None and origin is not None:
            raise ValueError("give xsd or origin, not both")
        executions = []
        if xsd is not None:
            executions.append(execution("xsd2er", self.upload(xsd, "xsd")))
            origin = "$0"
        executions.append(execution("xml2er", self.upload(file), origin=origin, target=target, options=options))
        started = self.run(executions, f"{Path(file).name} into {target}"[:200], idempotency_key)
        until = None if timeout is None else time.monotonic() + timeout
        for id_job in started["jobs"]:
            job = self.wait(id_job, None if until is None else max(until - time.monotonic(), 0))
        made = Conversion(job, {}, _result(job))  # type: ignore[typeddict-item]
        name = self.get_schema(made.id_sch)["name"]
        return Conversion(job, self.get_cil_job(name, job["id_job"]), made.result)

    def executions(self, *, size: int = 100) -> Iterator[models.Job]:
        """All jobs, the newest first; `iter_executions` takes filters."""
        return self.iter_executions(size=size)

    def workflows(self, *, size: int = 100) -> Iterator[models.WorkflowShort]:
        """All workflows, the newest first; `iter_workflows` takes filters."""
        return self.iter_workflows(size=size)

    def audit(self, *, size: int = 100) -> Iterator[models.AuditLine]:
        """All lines of the audit trail, the newest first."""
        return self.iter_audit(size=size)

    def keys(self, *, size: int = 100) -> Iterator[models.CILKey]:
        """All key columns of all feeds."""
        return self.iter_cil_keys(size=size)


class AsyncClient(AsyncOperations):
    """Every operation of the interface, to be awaited."""

    async def wait(self, id_job: int, timeout: float | None = None, *, poll: float = 1.0) -> models.Job:
        """Waits until a job has ended. Raises `JobFailed` where it did not complete, `WaitTimeout` after `timeout` seconds."""
        until = None if timeout is None else time.monotonic() + timeout
        pause = min(0.1, poll)
        while True:
            job = await self.get_execution(id_job)
            if job["end_date"] is not None:
                if job["status"] != "C":
                    log = await self.get_execution_log_text(id_job, tail=_TAIL)
                    raise _failure(job, await self._rejects(job), log)
                return job
            if until is not None and time.monotonic() >= until:
                raise WaitTimeout(id_job, timeout or 0)
            left = pause if until is None else min(pause, max(until - time.monotonic(), 0))
            await asyncio.sleep(left)
            pause = min(pause * 1.5, poll)

    async def _rejects(self, job: models.Job) -> Sequence[models.CILReject]:
        """Documents that the job refused; none where it had no schema yet."""
        if job["id_sch"] is None:
            return ()
        try:
            name = (await self.get_schema(job["id_sch"]))["name"]
            return (await self.get_cil_job(name, job["id_job"]))["rejects"]
        except Problem:
            return ()  # the failure itself is to be told, whatever else is not to be had


class _Busy(Exception):
    def __init__(self, answer: httpx.Response) -> None:
        self.answer = answer


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


def _lines(pieces: Iterable[str]) -> Iterator[str]:
    """Lines by line feed alone: text of a log may hold other separators that Python takes for line ends."""
    rest = ""
    for piece in pieces:
        *lines, rest = (rest + piece).split("\n")
        yield from lines
