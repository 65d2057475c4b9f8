from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from hcpx.adapters.turnstile import Turnstile
from hcpx.vocabulary.invocation import Cancel

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = ("acme", "ledger", "transfer")


class Watched(Cancel):
    """A cancel handle that tells when somebody begins to wait on it."""

    def __init__(self) -> None:
        super().__init__()
        self.waited_on = threading.Event()

    def on_cancel(self, wake: Callable[[], None]) -> Callable[[], None]:
        take_back = super().on_cancel(wake)
        self.waited_on.set()
        return take_back


class Caller:
    """A call that waits for its place in a thread of its own."""

    def __init__(self, turnstile: Turnstile, limit: int = 1, within: float = 60) -> None:
        self.cancel = Watched()
        self.answer: list[str] = []
        self.answered = threading.Event()
        self._thread = threading.Thread(target=self._enter, args=(turnstile, limit, within))
        self._thread.start()
        self.cancel.waited_on.wait(30)

    def _enter(self, turnstile: Turnstile, limit: int, within: float) -> None:
        self.answer.append(turnstile.enter(KEY, limit, within, self.cancel))
        self.answered.set()

    def ended(self) -> str:
        self._thread.join()
        return self.answer[0]


def test_so_many_get_in_at_once_and_no_more() -> None:
    turnstile = Turnstile()
    assert [turnstile.enter(KEY, 3, 0, Cancel()) for _ in range(4)] == ["in", "in", "in", "busy"]
    turnstile.leave(KEY)
    assert [turnstile.enter(KEY, 3, 0, Cancel()) for _ in range(2)] == ["in", "busy"]


def test_other_commands_and_tenants_do_not_count() -> None:
    turnstile = Turnstile()
    others = [("acme", "ledger", "balance"), ("acme", "depot", "transfer"), ("beta", "ledger", "transfer")]
    assert turnstile.enter(KEY, 1, 0, Cancel()) == "in"
    assert [turnstile.enter(key, 1, 0, Cancel()) for key in others] == ["in", "in", "in"]


def test_those_who_wait_get_in_in_the_order_of_their_coming() -> None:
    turnstile = Turnstile()
    assert turnstile.enter(KEY, 1, 0, Cancel()) == "in"
    callers = [Caller(turnstile) for _ in range(5)]
    for caller in callers:
        assert not any(one.answered.is_set() for one in callers[callers.index(caller) :])
        turnstile.leave(KEY)
        assert caller.ended() == "in"
    turnstile.leave(KEY)
    assert turnstile.enter(KEY, 1, 0, Cancel()) == "in"


def test_nobody_overtakes_those_who_wait() -> None:
    turnstile = Turnstile()
    assert turnstile.enter(KEY, 1, 0, Cancel()) == "in"
    first = Caller(turnstile)
    assert turnstile.enter(KEY, 5, 0, Cancel()) == "busy"
    turnstile.leave(KEY)
    assert first.ended() == "in"


def test_a_wait_that_ends_without_a_place_is_busy_and_gives_way() -> None:
    turnstile = Turnstile()
    assert turnstile.enter(KEY, 1, 0, Cancel()) == "in"
    assert Caller(turnstile, within=0.01).ended() == "busy"
    second = Caller(turnstile)
    turnstile.leave(KEY)
    assert second.ended() == "in"


def test_a_higher_limit_behind_a_lower_one_gets_in_when_that_gives_up() -> None:
    turnstile = Turnstile()
    assert turnstile.enter(KEY, 1, 0, Cancel()) == "in"
    lower = Caller(turnstile, limit=1)
    higher = Caller(turnstile, limit=2)
    lower.cancel.cancel()
    assert (lower.ended(), higher.ended()) == ("cancelled", "in")


def test_a_cancel_ends_the_wait() -> None:
    turnstile = Turnstile()
    assert turnstile.enter(KEY, 1, 0, Cancel()) == "in"
    caller = Caller(turnstile)
    caller.cancel.cancel()
    assert caller.ended() == "cancelled"


def test_nothing_is_kept_of_commands_that_do_not_run() -> None:
    turnstile = Turnstile()
    for number in range(100):
        key = ("acme", "ledger", str(number))
        turnstile.enter(key, 1, 0, Cancel())
        turnstile.enter(key, 1, 0, Cancel())
        turnstile.leave(key)
    assert turnstile._lanes == {}


def test_a_hundred_threads_never_exceed_the_limit() -> None:
    turnstile = Turnstile()
    lock = threading.Lock()
    inside: list[int] = []
    most: list[int] = []

    def one(number: int) -> None:
        for _ in range(20):
            assert turnstile.enter(KEY, 7, 60, Cancel()) == "in"
            with lock:
                inside.append(number)
                most.append(len(inside))
            with lock:
                inside.remove(number)
            turnstile.leave(KEY)

    threads = [threading.Thread(target=one, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(most) == 2000
    assert max(most) <= 7
    assert turnstile._lanes == {}
