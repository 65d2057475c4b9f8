from __future__ import annotations

from typing import cast

import pytest

from hcpx.adapters.missing import Missing
from hcpx.vocabulary.denial import Denial
from hcpx.vocabulary.invocation import Invocation, Target


@pytest.mark.parametrize("kind", ["openapi", "sense_only", "mcp"])
def test_a_kind_that_is_not_built_is_not_executable(kind: str) -> None:
    denial = Denial("adapter_not_executable", 6, f"adapter {kind} is not executable")
    adapter = Missing(kind)
    assert adapter.inspect(cast("Target", None)) == denial
    assert adapter.run(cast("Invocation", None)) == denial
    assert not adapter.can_mock(cast("Target", None))
