"""The pipeline with its ports, as faces, composites and the bootstrap pack reach it."""

from __future__ import annotations

from hcpx.pipeline.execute import execute
from hcpx.pipeline.outlook import Explanation, availability, explain, rehearse
from hcpx.ports import Call, Ports
from hcpx.store.database import Database
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.principal import Session
from hcpx.vocabulary.result import Result


class PipelineGate:
    """Implements `hcpx.ports.Gate`."""

    def __init__(self, ports: Ports, store: Database) -> None:
        self._ports = ports
        self._store = store

    def execute(self, call: Call) -> Result:
        """Send an envelope through all seven steps."""
        with self._store.steady():
            return execute(self._ports, call)

    def rehearse(self, call: Call) -> Denial | None:
        """Walk steps 1 to 4 for a composite's step."""
        with self._store.steady():
            return rehearse(self._ports, call)

    def explain(self, call: Call) -> Explanation:
        """Say what steps 1 to 5 would answer."""
        return explain(self._ports, call)

    def outlook(self, session: Session, pack_id: str, verb_key: str) -> Denial | None:
        """Say what a call with good args, confirm and its approvals would be denied with."""
        return availability(self._ports, session, pack_id, verb_key)
