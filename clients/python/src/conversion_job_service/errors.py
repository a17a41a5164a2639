"""The exceptions of the client."""

from __future__ import annotations

from collections.abc import Sequence

import httpx

from . import models


class ServiceError(Exception):
    """Any failure that the service told of."""


class Problem(ServiceError):
    """The service refused a request (RFC 9457).

    `code` is the stable name of the fault ("not_found"), `errors` the places in the request it was found at. `answer` has the headers.
    """

    def __init__(
        self, status: int, problem: models.Problem | None, text: str = "", *, answer: httpx.Response | None = None
    ) -> None:
        self.status = status
        self.answer = answer
        self.code: str = problem["code"] if problem else ""
        self.title: str = problem["title"] if problem else ""
        self.detail: str = problem["detail"] if problem else text
        self.errors: Sequence[models.ProblemPlace] = problem["errors"] if problem else ()
        self.request_id: str | None = problem["request_id"] if problem else None
        places = "".join(f"\n  {place['pointer']}: {place['detail']}" for place in self.errors)
        super().__init__(f"{status} {self.code or 'from something before the service'}: {self.detail}{places}")


class JobFailed(ServiceError):
    """A job ended in another state than C (completed).

    `code`: the stable name of what a document was refused for, or else how it ended ("failed", "killed", "expired", "lost").
    `summary`: why it did not complete. `log`: its last lines.
    """

    def __init__(self, job: models.Job, code: str, summary: str, log: str) -> None:
        self.job = job
        self.id_job = job["id_job"]
        self.status = job["status"]
        self.code = code
        self.summary = summary
        self.log = log
        tail = f"\nThe end of its log:\n{log.rstrip()}" if log.strip() else ""
        super().__init__(f"job {self.id_job} ended in state {self.status}: {summary}{tail}")


class WaitTimeout(ServiceError, TimeoutError):
    """A job had not ended when the time was up; it runs on."""

    def __init__(self, id_job: int, timeout: float) -> None:
        self.id_job = id_job
        super().__init__(f"job {id_job} had not ended after {timeout:g} s; it runs on, until it is killed")
