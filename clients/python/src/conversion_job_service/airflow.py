"""Apache Airflow: a deferrable operator that runs jobs, a sensor that waits for one, their hook and trigger."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from asgiref.sync import sync_to_async

try:  # Airflow 3
    from airflow.sdk import BaseHook, BaseOperator, BaseSensorOperator
except ImportError:  # Airflow 2
    from airflow.hooks.base import BaseHook
    from airflow.models.baseoperator import BaseOperator
    from airflow.sensors.base import BaseSensorOperator
from airflow.exceptions import AirflowException
from airflow.triggers.base import BaseTrigger, TriggerEvent

from . import AsyncClient, Client, JobFailed, Problem, models


class ConversionJobHook(BaseHook):
    """A connection: `host` is the address of the service, with its scheme and prefix, `password` an API key."""

    conn_name_attr = "conversion_job_conn_id"
    default_conn_name = "conversion_job_service"
    conn_type = "conversion_job_service"
    hook_name = "Conversion Job Service"

    def __init__(self, conversion_job_conn_id: str = default_conn_name) -> None:
        super().__init__()
        self.conversion_job_conn_id = conversion_job_conn_id

    def address(self) -> tuple[str, str | None]:
        """Address and key."""
        found = self.get_connection(self.conversion_job_conn_id)
        host = found.host or ""
        if "://" not in host:
            host = f"{found.schema or 'http'}://{host}"
        if found.port:
            host = f"{host.rstrip('/')}:{found.port}"
        return host, found.password

    def get_conn(self) -> Client:
        return Client(*self.address())


class ConversionJobTrigger(BaseTrigger):
    """Waits until jobs have ended, or one of them has failed."""

    def __init__(self, conversion_job_conn_id: str, id_jobs: Sequence[int], poll: float = 5.0) -> None:
        super().__init__()
        self.conversion_job_conn_id = conversion_job_conn_id
        self.id_jobs = list(id_jobs)
        self.poll = poll

    def serialize(self) -> tuple[str, dict[str, Any]]:
        return (
            "conversion_job_service.airflow.ConversionJobTrigger",
            {"conversion_job_conn_id": self.conversion_job_conn_id, "id_jobs": self.id_jobs, "poll": self.poll},
        )

    async def run(self) -> AsyncIterator[TriggerEvent]:
        hook = ConversionJobHook(self.conversion_job_conn_id)
        address, key = await sync_to_async(hook.address)()
        async with AsyncClient(address, key) as client:
            try:
                for id_job in self.id_jobs:
                    await client.wait(id_job, poll=self.poll)
            except JobFailed as failed:
                yield TriggerEvent({"failure": str(failed)})
                return
            except Exception as error:  # the task is to be told of anything, or it would wait for ever
                yield TriggerEvent({"failure": f"{type(error).__name__}: {error}"})
                return
        yield TriggerEvent({"jobs": self.id_jobs})

    async def on_kill(self) -> None:
        """A task that is ended while it waits here (Airflow versions that tell triggers so): its jobs end, too."""
        hook = ConversionJobHook(self.conversion_job_conn_id)
        await sync_to_async(_kill)(hook, self.id_jobs)


class ConversionJobOperator(BaseOperator):
    """Runs jobs and waits for them; its result is the ids of the jobs.

    `executions`: as `conversion_job_service.execution` makes them. `deferrable`: waits in the triggerer, not in a worker's slot.
    `idempotency_key`: what a repeated try is known by, so that jobs which run on, or have completed, are not begun again; one of the run
    and the task if it is not given. Jobs that did not complete, or had other files, are run anew by the next try.
    """

    template_fields: Sequence[str] = ("executions", "name", "idempotency_key", "conversion_job_conn_id")
    template_fields_renderers = {"executions": "json"}
    ui_color = "#dbe9f4"

    def __init__(
        self,
        *,
        executions: Sequence[models.Execution],
        name: str | None = None,
        idempotency_key: str | None = None,
        conversion_job_conn_id: str = ConversionJobHook.default_conn_name,
        deferrable: bool = True,
        poll: float = 5.0,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.executions = executions
        self.name = name
        self.idempotency_key = idempotency_key
        self.conversion_job_conn_id = conversion_job_conn_id
        self.deferrable = deferrable
        self.poll = poll
        self._jobs: list[int] = []

    def execute(self, context: Any) -> list[int]:
        hook = ConversionJobHook(self.conversion_job_conn_id)
        with hook.get_conn() as client:
            self._jobs = self._started(client, context)
            self.log.info("jobs %s", self._jobs)
            if not self.deferrable:
                try:
                    for id_job in self._jobs:
                        client.wait(id_job, poll=self.poll)
                except JobFailed as failed:
                    raise AirflowException(str(failed)) from None
                return self._jobs
        self.defer(
            trigger=ConversionJobTrigger(self.conversion_job_conn_id, self._jobs, self.poll),
            method_name="execute_complete",
        )
        raise AssertionError("defer does not return")

    def _started(self, client: Client, context: Any) -> list[int]:
        task = context["ti"]
        own = f"airflow:{task.dag_id}:{task.task_id}:{task.run_id}:{getattr(task, 'map_index', -1)}"
        key = "".join(one if "!" <= one <= "~" else "_" for one in self.idempotency_key or own)[:240]
        name = self.name or f"{task.dag_id}.{task.task_id}"[:200]
        again = f"{key}:{task.try_number}"
        try:
            jobs = client.run(self.executions, name, key)["jobs"]
        except Problem as problem:
            # tasks before this one were cleared, too, and gave it other files
            if problem.code != "idempotency_key_reused" or task.try_number == 1:
                raise
            return client.run(self.executions, name, again)["jobs"]
        states = [client.get_execution(id_job)["status"] for id_job in jobs]
        if task.try_number > 1 and any(state in ("F", "K", "E", "L") for state in states):
            return client.run(self.executions, name, again)["jobs"]
        return jobs

    def execute_complete(self, context: Any, event: dict[str, Any]) -> list[int]:
        if "failure" in event:
            raise AirflowException(event["failure"])
        done: list[int] = event["jobs"]
        return done

    def on_kill(self) -> None:
        _kill(ConversionJobHook(self.conversion_job_conn_id), self._jobs)


class ConversionJobSensor(BaseSensorOperator):
    """Waits for one job that something else began; fails where it fails."""

    template_fields: Sequence[str] = ("id_job", "conversion_job_conn_id")

    def __init__(
        self, *, id_job: int | str, conversion_job_conn_id: str = ConversionJobHook.default_conn_name, **more: Any
    ) -> None:
        super().__init__(**more)
        self.id_job = id_job
        self.conversion_job_conn_id = conversion_job_conn_id

    def poke(self, context: Any) -> bool:
        with ConversionJobHook(self.conversion_job_conn_id).get_conn() as client:
            if client.get_execution(int(self.id_job))["end_date"] is None:
                return False
            try:
                client.wait(int(self.id_job))
            except JobFailed as failed:
                raise AirflowException(str(failed)) from None
            return True


def _kill(hook: ConversionJobHook, jobs: Sequence[int]) -> None:
    with hook.get_conn() as client:
        for id_job in jobs:
            if client.get_execution(id_job)["end_date"] is None:
                client.kill_execution(id_job)
