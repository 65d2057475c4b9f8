"""`hcpx exec`: a command line as an envelope, the Result as JSON or for people (Spec 05 section 1)."""

from __future__ import annotations

import codecs
import signal
import sys
import time
from types import FrameType
from typing import Final, cast

from hcpx.runtime import BadSettings, Runtime, StoreUnavailable
from hcpx.vocabulary.denial import deny
from hcpx.vocabulary.envelope import MAX_BYTES, Payload
from hcpx.vocabulary.invocation import Cancel
from hcpx.vocabulary.result import Result

from .exec_line import USAGE, ExecLine, UsageError, read_line, wants_json
from .pairs import read_object, read_pairs
from .statuses import INTERRUPTED, exit_status, failure, quiet_pipe, unwritten, usage_failure

# Also a terminal that is closed; what the caller had ignored (nohup, a job in the background) stays ignored.
_ENDS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(words: list[str]) -> int:
    """Run `hcpx exec ...` and return its exit status."""
    as_json = wants_json(words)
    try:
        status = _run(read_line(words[1:]))
        sys.stdout.flush()
    except UsageError as wrong:
        return usage_failure(str(wrong), as_json=as_json, hint="hcpx exec --help")
    except BadSettings as wrong:
        return usage_failure(str(wrong), as_json=as_json)
    except StoreUnavailable as trouble:
        return failure(deny("store_unavailable", why=str(trouble)), as_json=as_json)
    except BrokenPipeError:
        return quiet_pipe()
    except KeyboardInterrupt:
        # At the question, or while an approval is awaited: nothing runs then.
        return INTERRUPTED
    except OSError as trouble:
        return failure(unwritten(trouble), as_json=as_json)
    except Exception as bug:  # noqa: BLE001 -- the outermost guard of the face: a bug is an id, never a trace
        from hcpx.runtime.trouble_log import report

        return failure(deny("internal", id=report(bug)), as_json=as_json)
    return status


def _run(line: ExecLine) -> int:
    if line.help:
        sys.stdout.write(USAGE)
        return 0
    runtime = Runtime.open(create_missing=True)
    try:
        return _answered(runtime, line)
    finally:
        runtime.close()


def _answered(runtime: Runtime, line: ExecLine) -> int:
    token = line.session if line.session is not None else runtime.settings.session
    if line.native_local and token is not None:
        return failure(deny("owner_required"), as_json=line.json)
    payload = _payload(runtime, token, line)
    if line.explain:
        from .explained import print_explanation

        return print_explanation(runtime.explain(payload, token=token), as_json=line.json)
    live = _Live(shown=not line.json and sys.stdout.isatty())
    result = _agreed(runtime, token, line, payload, live)
    live.finish()
    if line.json:
        sys.stdout.buffer.write(result.to_json() + b"\n")
    else:
        from .people import print_result

        print_result(result, streamed=live.wrote)
    return exit_status(result)


class _Live:
    """Shows a program's output on the terminal while it runs; a character may come in pieces."""

    def __init__(self, *, shown: bool) -> None:
        self.shown = shown
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}

    @property
    def wrote(self) -> bool:
        """Whether anything came."""
        return bool(self._decoders)

    def __call__(self, stream: str, data: bytes) -> None:
        if stream not in self._decoders:
            self._decoders[stream] = codecs.getincrementaldecoder("utf-8")("replace")
        self._show(stream, self._decoders[stream].decode(data))

    def finish(self) -> None:
        """Show what is left of a character whose end never came."""
        for stream, decoder in self._decoders.items():
            self._show(stream, decoder.decode(b"", final=True))

    def _show(self, stream: str, text: str) -> None:
        from .people import visible

        out = sys.stdout if stream == "stdout" else sys.stderr
        out.write(visible(text))
        out.flush()


def _payload(runtime: Runtime, token: str | None, line: ExecLine) -> Payload:
    if line.pack_id is None or line.verb_key is None:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    takes_text = runtime.takes_text(token, line.pack_id, line.verb_key) if line.pairs else None
    args = read_object(line.args_json, _contents) if line.args_json is not None else {}
    for name, value in read_pairs(line.pairs, takes_text, _contents).items():
        if name in args:
            raise UsageError(f"{name} given twice: in --args-json and behind --")
        args[name] = value
    if line.mock:
        if "mode" in args:
            raise UsageError("mode given twice: --mock and mode=")
        args["mode"] = "mock"
    envelope: dict[str, object] = {"pack_id": line.pack_id, "verb_key": line.verb_key, "args": args}
    if line.request_id is not None:
        envelope["request_id"] = line.request_id
    if line.idempotency_key is not None:
        envelope["idempotency_key"] = line.idempotency_key
    return envelope


def _contents(name: str) -> str:
    if name == "-":
        data = sys.stdin.buffer.read(MAX_BYTES + 1)
    else:
        with open(name, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UsageError(f"{name!r} holds more than 1 MiB, which no envelope does")
    return data.decode()


def _agreed(runtime: Runtime, token: str | None, line: ExecLine, payload: Payload, live: _Live) -> Result:
    """Call; where a gate asks and a person is there, ask them; where an approval is awaited, wait for it."""
    result = _called(runtime, token, line, payload, live)
    if result.code == "confirm_required" and isinstance(payload, dict) and _person_is_there(runtime, line):
        explanation = runtime.explain(payload, token=token)
        if explanation.target is not None and explanation.target.session.actor is None:
            from .question import agreed

            args = cast("dict[str, object]", payload["args"])
            if agreed(explanation, args):
                payload = payload | {"args": args | {"confirm": True}}
                result = _called(runtime, token, line, payload, live)
    if result.code == "approval_required" and line.wait_approval_s is not None:
        deadline = time.monotonic() + line.wait_approval_s
        while result.code == "approval_required" and runtime.wait_for_approval(result, deadline):
            result = _called(runtime, token, line, payload, live)
    return result


def _person_is_there(runtime: Runtime, line: ExecLine) -> bool:
    return runtime.settings.interactive and not line.json and sys.stdin.isatty() and sys.stdout.isatty()


def _called(runtime: Runtime, token: str | None, line: ExecLine, payload: Payload, live: _Live) -> Result:
    """Send the envelope; Ctrl-C cancels the call, whose end is still recorded."""
    cancel = Cancel()

    def stop(_number: int, _frame: FrameType | None) -> None:
        cancel.cancel()

    heard = [number for number in _ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    before = [(number, signal.signal(number, stop)) for number in heard]
    try:
        return runtime.execute(
            payload,
            token=token,
            face="human",
            cancel=cancel,
            on_output=live if live.shown else None,
            native_local=line.native_local,
        )
    finally:
        for number, handler in before:
            signal.signal(number, handler)
