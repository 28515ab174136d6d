"""The system's keyring, asked in a thread of its own and with a time limit.

A daemon thread, not `asyncio.to_thread`: a keyring can wait for minutes behind a prompt to unlock it, and a worker
thread of the loop would keep the app from ending for as long.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

UNSAFE_MODULES = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
"""Backends that keep nothing, or keep it in plain text."""


class Backend(Protocol):
    """What we use of a `keyring` backend. Every method may block."""

    def get_password(self, service: str, username: str) -> str | None: ...

    def set_password(self, service: str, username: str, password: str) -> None: ...

    def delete_password(self, service: str, username: str) -> None: ...


class KeyringLockedError(Exception):
    """The keyring is locked and its prompt was dismissed."""


class KeyringMissingError(Exception):
    """There is no keyring that keeps secrets safely."""


class KeyringTimeoutError(Exception):
    """The keyring did not answer in time."""


def find_backend() -> Backend:
    """The system's keyring. Blocking.

    Raises:
        KeyringMissingError: there is none, or only such as keep nothing or plain text.
    """
    import keyring

    chosen: Any = keyring.get_keyring()
    for backend in getattr(chosen, "backends", None) or [chosen]:  # a chainer has several, the best first
        if not type(backend).__module__.startswith(UNSAFE_MODULES) and not hasattr(backend, "backends"):
            found: Backend = backend
            return found
    raise KeyringMissingError(type(chosen).__module__)


@dataclass(slots=True)
class _Job:
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]
    work: Callable[[Backend], Any]
    reading: bool


class KeyringThread:
    """Runs calls on the keyring one after the other, off the loop. Used from one event loop.

    Args:
        backend: the keyring, or None to look for the system's at the first call.
        quiet: seconds after a refusal in which reading fails at once, so that ten secrets are not ten prompts.
    """

    def __init__(self, backend: Backend | None = None, *, quiet: float) -> None:
        self._backend = backend
        self._quiet = quiet
        self._jobs: queue.SimpleQueue[_Job | None] | None = None
        self._refusal: Exception | None = None
        self._refused_at = 0.0

    def try_again(self) -> None:
        """Forget a refusal."""
        self._refusal = None

    def close(self) -> None:
        """Let the thread end when it is through. A later `run` starts another."""
        if self._jobs is not None:
            self._jobs.put(None)
            self._jobs = None

    async def run(self, work: Callable[[Backend], T], *, reading: bool, limit: float) -> T:
        """`work(backend)`, within `limit` seconds.

        Raises:
            KeyringLockedError, KeyringMissingError, KeyringTimeoutError
            Exception: what else the keyring raised, of whatever type.
        """
        loop = asyncio.get_running_loop()
        job = _Job(loop, loop.create_future(), work, reading)
        if self._jobs is None:
            self._jobs = queue.SimpleQueue()
            threading.Thread(target=self._serve, args=(self._jobs,), name="keyring", daemon=True).start()
        self._jobs.put(job)
        try:
            async with asyncio.timeout(limit):
                answer: T = await job.answer
                return answer
        except TimeoutError as error:
            # That thread is stuck behind a prompt: leave it, and use another for the next call.
            self._jobs = None
            raise self._refused(KeyringTimeoutError()) from error

    def _serve(self, jobs: queue.SimpleQueue[_Job | None]) -> None:
        while jobs is self._jobs and (job := jobs.get()) is not None:
            if job.answer.done():  # nobody waits for it any more
                continue
            try:
                result, error = self._work(job), None
            except Exception as failure:
                result, error = None, failure
            try:
                job.loop.call_soon_threadsafe(_settle, job.answer, result, error)
            except RuntimeError:  # the loop was closed meanwhile
                return

    def _work(self, job: _Job) -> Any:
        import keyring.errors

        if job.reading and self._refusal is not None and time.monotonic() - self._refused_at < self._quiet:
            raise self._refusal
        if self._backend is None:
            self._backend = find_backend()
        try:
            result = job.work(self._backend)
        except keyring.errors.KeyringLocked as error:
            raise self._refused(KeyringLockedError()) from error
        except (keyring.errors.NoKeyringError, keyring.errors.InitError) as error:
            raise KeyringMissingError from error
        self._refusal = None
        return result

    def _refused(self, error: Exception) -> Exception:
        self._refusal, self._refused_at = error, time.monotonic()
        return error


def _settle(answer: asyncio.Future[Any], result: Any, error: Exception | None) -> None:
    if answer.done():
        return
    if error is not None:
        answer.set_exception(error)
    else:
        answer.set_result(result)
