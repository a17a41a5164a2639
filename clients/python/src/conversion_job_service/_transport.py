"""Requests as the operations make them: authorised, tried again where the service asks for it, its refusals raised."""

from __future__ import annotations

import asyncio
import json as json_text
import random
import time
from collections.abc import AsyncIterable, Iterable, Mapping
from types import TracebackType
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

import httpx

from .errors import Problem

Content: TypeAlias = "bytes | Iterable[bytes]"
AsyncContent: TypeAlias = "bytes | AsyncIterable[bytes]"
Self = TypeVar("Self", bound="Transport")
AsyncSelf = TypeVar("AsyncSelf", bound="AsyncTransport")

#: statuses at which the service has done nothing, and asks to be asked again
BUSY = (429, 503)
#: longest wait between two tries, in seconds, whatever the service asks for
LONGEST_PAUSE = 120.0
_SAFE = ("GET", "HEAD", "OPTIONS")


def _url(path: str, names: Mapping[str, object]) -> str:
    for name, value in names.items():
        path = path.replace("{" + name + "}", quote(str(value), safe=""))
    return path


def _arguments(
    accept: str,
    query: Mapping[str, Any] | None,
    headers: Mapping[str, object] | None,
    json: Any,
    content: Any,
) -> dict[str, Any]:
    sent = {"Accept": accept, **{name: str(value) for name, value in (headers or {}).items() if value is not None}}
    arguments: dict[str, Any] = {"headers": sent}
    present = {name: value for name, value in (query or {}).items() if value is not None}
    if present:
        arguments["params"] = present
    if content is not None:
        sent["Content-Type"] = "application/octet-stream"
        arguments["content"] = content
    elif json is not None:
        arguments["json"] = json
    return arguments


def problem_of(answer: httpx.Response) -> Problem:
    """The refusal as an exception; the answer has been read."""
    try:
        found = answer.json()
    except (json_text.JSONDecodeError, UnicodeDecodeError):
        found = None
    if isinstance(found, dict) and {"code", "title", "detail", "errors", "request_id"} <= found.keys():
        return Problem(answer.status_code, found)  # type: ignore[arg-type]
    return Problem(answer.status_code, None, answer.text[:500])


def pause_before(attempt: int, answer: httpx.Response | None) -> float:
    """Seconds until the next try: those that the service asks for, or twice as many each time."""
    asked = answer.headers.get("Retry-After", "") if answer is not None else ""
    if asked.isdigit():
        return min(float(asked), LONGEST_PAUSE)
    return min(0.5 * 2.0**attempt, 30.0) * (0.5 + random.random() / 2)


def _may_repeat(method: str, arguments: Mapping[str, Any], answer: httpx.Response | None) -> bool:
    content = arguments.get("content")
    if content is not None and not isinstance(content, bytes):
        return False  # a stream is gone when it was read
    if answer is not None:
        return answer.status_code in BUSY
    # no answer came: what was asked may have been done
    return method in _SAFE or "Idempotency-Key" in arguments["headers"]


def _settings(url: str, key: str | None, timeout: float) -> dict[str, Any]:
    return {
        "base_url": url.rstrip("/"),
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": httpx.Timeout(timeout, connect=min(timeout, 10.0)),
    }


class Transport:
    """`url`: address of the service, with its prefix. `key`: an API key or a token. `timeout`: seconds without a byte.

    `retries`: how many times a request is made again where the service is busy (429, 503) or, if it can be made twice, does not answer.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 90.0,
        retries: int = 5,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self._http = httpx.Client(**_settings(url, key, timeout), transport=transport)
        self._retries = retries

    def close(self) -> None:
        self._http.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def _send(
        self,
        method: str,
        path: str,
        *,
        accept: str,
        path_values: Mapping[str, object] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, object] | None = None,
        json: Any = None,
        content: Content | None = None,
    ) -> httpx.Response:
        arguments = _arguments(accept, query, headers, json, content)
        url = _url(path, path_values or {})
        attempt = 0
        while True:
            answer: httpx.Response | None = None
            try:
                answer = self._http.request(method, url, **arguments)
                if answer.status_code < 400:
                    return answer
                failure: Exception = problem_of(answer)
            except httpx.TransportError as error:
                failure = error
            if attempt >= self._retries or not _may_repeat(method, arguments, answer):
                raise failure
            time.sleep(pause_before(attempt, answer))
            attempt += 1

    def _json(self, method: str, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> Any:
        return self._send(method, url, path_values=path, **more).json()

    def _text(self, method: str, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> str:
        return self._send(method, url, path_values=path, **more).text

    def _bytes(self, method: str, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> bytes:
        return self._send(method, url, path_values=path, **more).content

    def _nothing(self, method: str, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> None:
        self._send(method, url, path_values=path, **more)


class AsyncTransport:
    """`Transport`, to be awaited."""

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        timeout: float = 90.0,
        retries: int = 5,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._http = httpx.AsyncClient(**_settings(url, key, timeout), transport=transport)
        self._retries = retries

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self: AsyncSelf) -> AsyncSelf:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _send(
        self,
        method: str,
        path: str,
        *,
        accept: str,
        path_values: Mapping[str, object] | None = None,
        query: Mapping[str, Any] | None = None,
        headers: Mapping[str, object] | None = None,
        json: Any = None,
        content: AsyncContent | None = None,
    ) -> httpx.Response:
        arguments = _arguments(accept, query, headers, json, content)
        url = _url(path, path_values or {})
        attempt = 0
        while True:
            answer: httpx.Response | None = None
            try:
                answer = await self._http.request(method, url, **arguments)
                if answer.status_code < 400:
                    return answer
                failure: Exception = problem_of(answer)
            except httpx.TransportError as error:
                failure = error
            if attempt >= self._retries or not _may_repeat(method, arguments, answer):
                raise failure
            await asyncio.sleep(pause_before(attempt, answer))
            attempt += 1

    async def _json(self, method: str, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> Any:
        return (await self._send(method, url, path_values=path, **more)).json()

    async def _text(self, method: str, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> str:
        return (await self._send(method, url, path_values=path, **more)).text

    async def _bytes(self, method: str, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> bytes:
        return (await self._send(method, url, path_values=path, **more)).content

    async def _nothing(self, method: str, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> None:
        await self._send(method, url, path_values=path, **more)
