# Decides what to test of an event that PyTorch's relay sent; see docs/ship/relay.md.
"""For steps of relay.yml. It prints lines `name=value`, as GITHUB_OUTPUT takes them.

    python3 relay.py plan "$GITHUB_EVENT_PATH"
    python3 relay.py verdict "$BASELINE" "$CHANGE"

Anyone can open a pull request, so a value of the event reaches the output only after a
check of its form.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

UPSTREAM = "pytorch/pytorch"
COMMIT = re.compile(r"[0-9a-f]{40}")
RELEASE = re.compile(r"release/(\d+\.\d+)")
NOTHING = {"test": "false"}


# LITERALINCLUDE START: RELAY_PLAN
def plan(event: dict[str, Any]) -> dict[str, str]:
    """Return the commit of torch to test, and the wheel to compare it with."""
    sent = event["client_payload"]
    kind, payload = sent["event_type"], sent["payload"]
    if payload["repository"]["full_name"] != UPSTREAM:
        raise ValueError(f"the event is not of {UPSTREAM}")
    if kind == "pull_request":
        pull = payload["pull_request"]
        if payload["action"] == "closed" or pull["draft"]:
            return NOTHING
        return tested(pull["head"]["sha"], pull["base"]["ref"])
    if kind == "push":
        branch = payload["ref"].removeprefix("refs/heads/")
        if payload["deleted"] or branch == payload["ref"]:  # a tag
            return NOTHING
        return tested(payload["after"], branch)
    raise ValueError(f"no plan for the event {kind!r}")


def tested(commit: str, branch: str) -> dict[str, str]:
    if not COMMIT.fullmatch(commit):
        raise ValueError(f"{commit!r} is not the name of a commit")
    release = RELEASE.fullmatch(branch)
    wheel = f"torch=={release[1]}.*" if release else "--pre torch"
    return {"test": "true", "commit": commit, "wheel": wheel}


# LITERALINCLUDE END: RELAY_PLAN
WHOSE = {  # by the result without the commit; a job may also end without a result
    "success": ("upstream", "only with this commit"),
    "failure": ("backend", "even without this commit"),
}


def verdict(baseline: str, change: str) -> dict[str, str]:
    """Return whose fault a failure is, for the relay; nothing without a failure."""
    if change != "failure":
        return {}
    category, where = WHOSE.get(baseline, ("unknown", "with this commit"))
    found = {
        "schema_version": 1,
        "category": category,
        "confidence": "medium",
        "summary": f"Building or testing the backend fails {where}.",
    }
    return {"verdict": json.dumps(found)}


COMMANDS: dict[str, Callable[..., dict[str, str]]] = {
    "plan": lambda file: plan(json.loads(Path(file).read_text())),
    "verdict": verdict,
}


def main(command: str, *arguments: str) -> int:
    try:
        found = COMMANDS[command](*arguments)
    except (KeyError, TypeError, ValueError) as error:
        print(f"relay.py {command}: {error!r}", file=sys.stderr)
        return 1
    for name, value in found.items():
        print(f"{name}={value}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
