"""The command line of the conformance runner."""

from __future__ import annotations

import json
import sys

import msgspec

from .corpus import BadCorpus
from .faces import FACES
from .run import Outcome, closing_line, outcomes


def run(folder: str, faces: str, *, as_json: bool) -> int:
    """Run a corpus and print what each case came to; 0 where none failed, 2 for a corpus or face that is none."""
    wanted = [face for face in faces.split(",") if face]
    strange = [face for face in wanted if face not in FACES]
    if strange or not wanted:
        return _refused(f"no face {', '.join(strange) or faces!r}; there are {', '.join(FACES)}", as_json=as_json)
    found: list[Outcome] = []
    try:
        for one in outcomes(folder, wanted):
            found.append(one)
            if not as_json and one.verdict != "passed":
                reasons = "".join(f"\n    {fault}" for fault in one.faults)
                sys.stdout.write(f"{one.verdict}: {one.file}: {one.name} [{one.face}]{reasons}\n")
    except BadCorpus as bad:
        return _refused(str(bad), as_json=as_json)
    if as_json:
        cases = [msgspec.to_builtins(one) for one in found]
        sys.stdout.write(json.dumps({"cases": cases, "summary": closing_line(found)}, ensure_ascii=False) + "\n")
    else:
        sys.stdout.write(closing_line(found) + "\n")
    return 1 if any(one.verdict == "failed" for one in found) else 0


def _refused(what: str, *, as_json: bool) -> int:
    if as_json:
        sys.stdout.write(json.dumps({"ok": False, "code": "usage", "error": what}) + "\n")
    else:
        sys.stderr.write(f"hcpx: {what}\n")
    return 2
