"""What Airflow is told of this package when it starts: it imports nothing of Airflow, which is not whole by then."""

from __future__ import annotations

from typing import Any


def get_provider_info() -> dict[str, Any]:
    """What Airflow lists of this package."""
    return {
        "package-name": "conversion-job-service",
        "name": "Conversion Job Service",
        "description": "XML in, relational tables and rows out.",
        "connection-types": [
            {
                "connection-type": "conversion_job_service",
                "hook-class-name": "conversion_job_service.airflow.ConversionJobHook",
            }
        ],
    }
