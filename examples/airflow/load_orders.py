"""Every night: a document goes up, its rows are loaded, and the waiting takes no worker's place.

The connection `conversion_job_service` has the address of the service as its host, and an API key as its password.
"""
from __future__ import annotations

from datetime import datetime

from conversion_job_service import execution
from conversion_job_service.airflow import ConversionJobHook, ConversionJobOperator, ConversionJobSensor

try:
    from airflow.sdk import dag, task
except ImportError:  # Airflow 2
    from airflow.decorators import dag, task


@dag(schedule="@daily", start_date=datetime(2026, 1, 1), catchup=False, params={"file": "orders.xml", "target": "metadb:orders"})
def load_orders():
    @task
    def upload(params=None) -> str:
        with ConversionJobHook().get_conn() as client:
            return client.upload(params["file"])

    load = ConversionJobOperator(
        task_id="load",
        executions=[execution("xml2er", "{{ ti.xcom_pull(task_ids='upload') }}", target="{{ params.target }}")],
        poll=1,
    )
    loaded = ConversionJobSensor(task_id="loaded", id_job="{{ ti.xcom_pull(task_ids='load')[0] }}", poke_interval=5)
    upload() >> load >> loaded


load_orders()
