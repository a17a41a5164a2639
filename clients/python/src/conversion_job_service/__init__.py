"""Client of the Conversion Job Service: XML in, relational tables and rows out."""

from . import models
from .client import AsyncClient, Client, Conversion, execution, option
from .errors import JobFailed, Problem, ServiceError, WaitTimeout

__all__ = [
    "AsyncClient",
    "Client",
    "Conversion",
    "JobFailed",
    "Problem",
    "ServiceError",
    "WaitTimeout",
    "execution",
    "models",
    "option",
]
