"""The pipeline: seven steps in order, and nothing runs after a denial (Spec 01 section 3).

Each step takes the evidence of the one before it and gives its own, or a Denial. The trail notes how far the
call came; step 7 records from it how the call ended, denied or not, and makes the Result.
"""

from __future__ import annotations

from hcpx.ports import AuditUnavailable, Call, Ports, StoreUnavailable
from hcpx.vocabulary.denial import Denial, deny
from hcpx.vocabulary.envelope import BadEnvelope
from hcpx.vocabulary.result import Result

from . import (
    step1_resolve,
    step2_authenticate,
    step3_authorize,
    step4_confirm,
    step5_mint,
    step6_run,
    step7_record,
)
from .stages import Replayed
from .trail import Trail


def execute(ports: Ports, call: Call) -> Result:
    """Answer one call with a Result, whatever it carries and whatever goes wrong."""
    trail = Trail(ports, call)
    try:
        return _walk(ports, call, trail)
    except StoreUnavailable as trouble:
        return step7_record.denied(ports, trail, deny("store_unavailable", why=str(trouble)))
    except AuditUnavailable:
        return step7_record.denied(ports, trail, deny("audit_unavailable"))
    except Exception as bug:  # noqa: BLE001 -- the one outermost guard: every surprise becomes the same safe answer
        return step7_record.broken(ports, trail, bug)
    except BaseException as end:
        # Ctrl-C in a program that embeds us is that program's to answer; what it cut short is recorded first.
        step7_record.broken(ports, trail, end)
        raise
    finally:
        trail.close()


def _walk(ports: Ports, call: Call, trail: Trail) -> Result:
    session = step2_authenticate.identify(ports, call)  # no session, no answer: asked before anything is read
    if isinstance(session, Denial):
        return step7_record.denied(ports, trail, session)
    trail.session = session

    envelope = step1_resolve.read(call)
    if isinstance(envelope, BadEnvelope):
        return step7_record.unread(ports, trail, envelope)
    trail.envelope = envelope

    resolved = step1_resolve.resolve(ports, call, session, envelope)
    if isinstance(resolved, Denial):
        return step7_record.denied(ports, trail, resolved)
    trail.resolved = resolved

    authenticated = step2_authenticate.admit(ports, resolved)
    if isinstance(authenticated, Denial):
        return step7_record.denied(ports, trail, authenticated)
    trail.authenticated = authenticated

    permitted = step3_authorize.authorize(ports, authenticated)
    if isinstance(permitted, Denial):
        return step7_record.denied(ports, trail, permitted)
    trail.permitted = permitted

    confirmed = step4_confirm.confirm(ports, permitted)
    if isinstance(confirmed, Denial):
        return step7_record.denied(ports, trail, confirmed)
    if isinstance(confirmed, Replayed):
        return step7_record.replayed(ports, trail, confirmed)
    trail.confirmed = confirmed

    intended = step5_mint.intend(ports, confirmed, trail)
    if isinstance(intended, Denial):
        return step7_record.denied(ports, trail, intended)
    trail.intended = intended

    bound = step5_mint.mint(ports, intended)
    if isinstance(bound, Denial):
        return step7_record.denied(ports, trail, bound)
    trail.bound = bound

    outcome = step6_run.run(ports, bound, trail.audit_id)
    if isinstance(outcome, Denial):
        return step7_record.denied(ports, trail, outcome)
    return step7_record.ended(ports, trail, outcome)
