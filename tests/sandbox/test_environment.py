from __future__ import annotations

from hcpx.sandbox.environment import Environments

AMBIENT = {
    "PATH": "/ambient/bin",
    "HOME": "/home/ada",
    "LANG": "de_DE.UTF-8",
    "LC_ALL": "C",
    "LC_TIME": "en_GB.UTF-8",
    "LANGUAGE": "de",
    "TZ": "Europe/Berlin",
    "TERM": "xterm",
    "FORCE_COLOR": "1",
    "SECRET_TOKEN": "canary-7",
    "LD_PRELOAD": "/evil.so",
    "HCP_SESSION": "token",
}
FACTS = {"HCP_SANDBOX": "native-local", "HCP_PACK_ID": "depot"}


def test_of_the_runtimes_own_variables_only_the_locale_and_the_time_zone_go_in() -> None:
    assert Environments("/usr/bin:/bin", AMBIENT).of({}, {}, FACTS) == {
        "PATH": "/usr/bin:/bin",
        "LANG": "de_DE.UTF-8",
        "LC_ALL": "C",
        "LC_TIME": "en_GB.UTF-8",
        "TZ": "Europe/Berlin",
        "TERM": "dumb",
        "NO_COLOR": "1",
        "HCP_SANDBOX": "native-local",
        "HCP_PACK_ID": "depot",
    }


def test_what_comes_later_wins_and_the_facts_come_last() -> None:
    made = Environments("/bin", {}).of(
        {"A": "pack", "B": "pack", "TERM": "xterm", "HCP_PACK_ID": "pack"},
        {"B": "binding", "HCP_SANDBOX": "sandbox"},
        FACTS,
    )
    assert made == {
        "PATH": "/bin",
        "TERM": "xterm",
        "NO_COLOR": "1",
        "A": "pack",
        "B": "binding",
        "HCP_SANDBOX": "native-local",
        "HCP_PACK_ID": "depot",
    }
