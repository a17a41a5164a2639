"""Requests as the operations make them: authorised, repeated when the service is busy, refusals raised as exceptions."""

from __future__ import annotations

import asyncio
import json as json_text
import random
import time
import uuid
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote

import httpx

from .errors import Problem, ServiceError

Content: TypeAlias = "bytes | Iterable[bytes]"
AsyncContent: TypeAlias = "bytes | AsyncIterable[bytes]"
Self = TypeVar("Self", bound="Transport")
AsyncSelf = TypeVar("AsyncSelf", bound="AsyncTransport")

#: statuses of a busy service
_BUSY = (429, 503)
#: longest wait between two tries, in seconds; an answer that asks for more is raised
LONGEST_PAUSE = 120.0
_SAFE = ("GET", "HEAD", "OPTIONS")
_IDEMPOTENT = (*_SAFE, "PUT", "DELETE")


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
    if not isinstance(found, dict) or not {"code", "title", "detail", "errors", "request_id"} <= found.keys():
        return Problem(answer.status_code, None, answer.text[:500], answer=answer)
    return Problem(answer.status_code, found, answer=answer)  # type: ignore[arg-type]


def retry_after(answer: httpx.Response) -> float | None:
    """Seconds that `Retry-After` asks to wait, as a number or as an HTTP date; None without the header."""
    asked = answer.headers.get("Retry-After", "").strip()
    if asked.isdecimal():
        return float(asked)
    try:
        date = parsedate_to_datetime(asked)
    except (TypeError, ValueError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max((date - datetime.now(timezone.utc)).total_seconds(), 0.0)


def is_busy(answer: httpx.Response) -> bool:
    """Whether the service asks for the request to be repeated, within a time that is worth the wait."""
    return answer.status_code in _BUSY and (retry_after(answer) or 0.0) <= LONGEST_PAUSE


def new_key() -> str:
    """An `Idempotency-Key` that no other request has."""
    return str(uuid.uuid4())


def pause_before(attempt: int, answer: httpx.Response | None) -> float:
    """Seconds until the next try: what the service asks for, or else twice as many each time."""
    asked = None if answer is None else retry_after(answer)
    if asked is not None:
        return asked
    return min(0.5 * 2.0**attempt, 30.0) * (0.5 + random.random() / 2)


def _may_repeat(method: str, arguments: Mapping[str, Any], answer: httpx.Response | None) -> bool:
    content = arguments.get("content")
    if content is not None and not isinstance(content, bytes):
        return False  # a stream can be read only once
    has_key = "Idempotency-Key" in arguments["headers"]
    if answer is None:
        # the service may have done what was asked
        return method in _SAFE or has_key
    if answer.status_code == 409 and "Retry-After" in answer.headers:
        # the first request with this key is still running
        return has_key
    return is_busy(answer) and (method in _IDEMPOTENT or has_key)


def _next_page(answer: httpx.Response) -> httpx.URL | None:
    """Address of the next page of a list; None after the last one."""
    reference = answer.links.get("next", {}).get("url")
    if reference is None:
        return None
    here = answer.request.url
    following = here.join(reference)
    # requests carry the key, which must not leave the service
    if (following.scheme, following.netloc) != (here.scheme, here.netloc):
        raise ServiceError(f"the next page of {here} is on another host: {following}")
    return following


def _items_of(answer: httpx.Response) -> list[Any]:
    page = answer.json()
    items: list[Any] = page if isinstance(page, list) else page["content"]
    return items


def _settings(url: str, key: str | None, timeout: float) -> dict[str, Any]:
    return {
        "base_url": url.rstrip("/"),
        "headers": {"Authorization": f"Bearer {key}"} if key else {},
        "timeout": httpx.Timeout(timeout, connect=min(timeout, 10.0)),
    }


class Transport:
    """`url`: address of the service, with its prefix. `key`: an API key or a token. `timeout`: seconds without a byte.

    `retries`: how many times a request is repeated if the service is busy (429, 503) or does not answer. Only requests that do no harm
    when they are made twice are repeated: reading, removing, and those with an `Idempotency-Key`.
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

    def _items(self, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> Iterator[Any]:
        answer = self._send("GET", url, path_values=path, **more)
        while True:
            yield from _items_of(answer)
            following = _next_page(answer)
            if following is None:
                return
            answer = self._send("GET", str(following), accept="application/json")


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

    async def _items(self, url: str, *, path: Mapping[str, object] | None = None, **more: Any) -> AsyncIterator[Any]:
        answer = await self._send("GET", url, path_values=path, **more)
        while True:
            for item in _items_of(answer):
                yield item
            following = _next_page(answer)
            if following is None:
                return
            answer = await self._send("GET", str(following), accept="application/json")
