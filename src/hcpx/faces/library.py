"""The SDK in process: `Hcp.open()` and one `exec` signature (Spec 05 section 3)."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Self, cast, overload

from hcpx.runtime import Runtime
from hcpx.vocabulary.envelope import Payload
from hcpx.vocabulary.invocation import Cancel, OnOutput
from hcpx.vocabulary.result import Result


class Hcp:
    """A session's way to its commands, in this process.

    ```python
    with Hcp.open() as hcp:
        result = hcp.exec("ledger", "transfer", {"amount": "2.80", "payee": "demo", "confirm": True})
        if not result:
            print(result.code, result.hint)
    ```
    """

    def __init__(self, runtime: Runtime, token: str | None) -> None:
        self._runtime = runtime
        self._token = token

    def __repr__(self) -> str:
        return "Hcp(owner)" if self._token is None else "Hcp(session)"

    @classmethod
    def open(cls, *, home: str | None = None, session: str | None = None) -> Hcp:
        """Open the store in `home` (default: `HCP_HOME`, else the user's data folder).

        The session is `session`, else `HCP_SESSION`, else the store owner's own. Raises `BadSettings` where
        the environment holds an unknown or invalid setting, `StoreUnavailable` where the store does not open.
        """
        runtime = Runtime.open(home=home, create_missing=True, lasting=True)
        return cls(runtime, session if session is not None else runtime.settings.session)

    @overload
    def exec(self, pack_id: str, verb_key: str, args: Mapping[str, object] | None = None, *, request_id: str | None = None, idempotency_key: str | None = None, cancel: Cancel | None = None, on_output: OnOutput | None = None) -> Result: ...  # fmt: skip  # noqa: E501
    @overload
    def exec(self, envelope: Payload, /, *, cancel: Cancel | None = None, on_output: OnOutput | None = None) -> Result: ...  # fmt: skip  # noqa: E501
    def exec(
        self,
        pack_id: Payload,
        verb_key: str | None = None,
        args: Mapping[str, object] | None = None,
        *,
        request_id: str | None = None,
        idempotency_key: str | None = None,
        cancel: Cancel | None = None,
        on_output: OnOutput | None = None,
    ) -> Result:
        """Send one envelope through the pipeline and return its Result; never raises for what it carries.

        Positional form: pack, command, args. A single argument is the envelope: a mapping, text or bytes.
        `on_output` gets ("stdout" | "stderr", bytes) while the program runs; `cancel.cancel()` from another
        thread ends the call. Raises TypeError only for a wrong Python type in the positional form, and for args or
        keys beside an envelope, which holds its own (Spec 01 section 4).
        """
        payload = _payload(pack_id, verb_key, args, request_id, idempotency_key)
        return self._runtime.execute(
            payload,
            token=self._token,
            face="api",
            cancel=cancel if cancel is not None else Cancel(),
            on_output=on_output,
        )

    async def aexec(
        self,
        pack_id: Payload,
        verb_key: str | None = None,
        args: Mapping[str, object] | None = None,
        *,
        request_id: str | None = None,
        idempotency_key: str | None = None,
        on_output: OnOutput | None = None,
    ) -> Result:
        """Do what `exec` does on a thread; cancelling the task cancels the call, which is still recorded."""
        import asyncio

        cancel = Cancel()
        payload = _payload(pack_id, verb_key, args, request_id, idempotency_key)
        running = asyncio.ensure_future(asyncio.to_thread(self.exec, payload, cancel=cancel, on_output=on_output))
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            cancel.cancel()
            await running
            raise

    def availability(self, pack: str | None = None, verb_key: str | None = None) -> list[dict[str, object]]:
        """Return what `hcp.availability` says of each command: usable or not, why not, and the next step."""
        return cast(
            "list[dict[str, object]]",
            self._asked("hcp.availability", pack=pack, verb_key=verb_key)["commands"],
        )

    def skill(self, pack: str | None = None, name: str | None = None, *, full: bool = False) -> object:
        """Return Skill leads, or with a name and `full` the whole text."""
        answer = self._asked("hcp.skill", pack=pack, name=name, full=full)
        return answer["text"] if "text" in answer else answer["skills"]

    def _asked(self, command: str, /, **args: object) -> dict[str, object]:
        given = {name: value for name, value in args.items() if value is not None}
        result = self.exec("hcp-cli", command, given)
        if not result:
            raise LookupError(result.error)
        return cast("dict[str, object]", result.result)

    def close(self) -> None:
        """Close the store."""
        self._runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _payload(
    pack_id: Payload, verb_key: object, args: object, request_id: str | None, idempotency_key: str | None
) -> Payload:
    if verb_key is None:
        if (args, request_id, idempotency_key) != (None, None, None):
            # A key that went unheard would let a write happen twice.
            raise TypeError("args, request_id and idempotency_key stand in the envelope, or beside a pack and a verb")
        return pack_id
    if not isinstance(pack_id, str) or not isinstance(verb_key, str):
        raise TypeError("exec takes a pack and a verb as text, or one envelope")
    if args is not None and not isinstance(args, Mapping):
        raise TypeError("args must be a mapping")
    envelope: dict[str, object] = {
        "pack_id": pack_id,
        "verb_key": verb_key,
        "args": dict(cast("Mapping[str, object]", args or {})),
    }
    if request_id is not None:
        envelope["request_id"] = request_id
    if idempotency_key is not None:
        envelope["idempotency_key"] = idempotency_key
    return envelope
