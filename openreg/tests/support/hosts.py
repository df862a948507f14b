# Two hosts on one machine; see docs/modules/distributed-groups.md.
"""Network namespaces with a cable between them, each as its own host.

Needs no rights: a user namespace around both gives them. Needs ``unshare`` and
``nsenter`` (util-linux), ``ip`` (iproute2), and a kernel that lets users make
namespaces.
"""

import os
import subprocess
from pathlib import Path

NAMES = ("10.77.0.1", "10.77.0.2")
CABLE = "ve0"  # the name of the network interface on both hosts


class CannotError(RuntimeError):
    """This machine refuses; the text says what, and what to do."""


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True)
    except FileNotFoundError as error:
        text = f"{error.filename} is missing: apt-get install iproute2 util-linux"
        raise CannotError(f"no two hosts: {text}") from None
    except subprocess.CalledProcessError as error:
        text = f"{' '.join(command)}: {error.stderr.strip()}"
        raise CannotError(f"no two hosts: {text}; try it as root") from None


class Hosts:
    """Two network namespaces, with the addresses ``NAMES``.

    Raises:
        CannotError: no tools, or no rights to make namespaces.
    """

    def __init__(self) -> None:
        self._keepers: list[subprocess.Popen[str]] = []
        try:
            self._keep("unshare", "--user", "--map-root-user", "--net")
            self._keep(*self.inside(0), "unshare", "--net")
            other = str(self._keepers[1].pid)
            cable = ["type", "veth", "peer", "name", CABLE, "netns", other]
            _run(*self.inside(0), "ip", "link", "add", CABLE, *cable)
            for host, name in enumerate(NAMES):
                at = [*self.inside(host), "ip"]
                _run(*at, "address", "add", f"{name}/24", "dev", CABLE)
                _run(*at, "link", "set", CABLE, "up")
                _run(*at, "link", "set", "lo", "up")
        except BaseException:
            self.close()
            raise

    def _keep(self, *command: str) -> None:
        """Start a process that keeps a new namespace alive as long as we live."""
        try:
            keeper = subprocess.Popen(
                [*command, "sh", "-c", "echo made; exec cat"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        except FileNotFoundError as error:
            raise CannotError(f"no two hosts: {error.filename} is missing") from None
        self._keepers.append(keeper)
        assert keeper.stdout and keeper.stderr
        if keeper.stdout.readline() != "made\n":
            why = keeper.stderr.read().strip()
            raise CannotError(f"no two hosts: {why}; try it as root")

    def inside(self, host: int) -> list[str]:
        """Return what goes before a command that runs on this host."""
        pid = str(self._keepers[host].pid)
        return ["nsenter", "--target", pid, "--user", "--net", "--preserve-credentials"]

    def start(self, host: int, *command: str, **env: str) -> "subprocess.Popen[str]":
        """Start a program on this host, with pipes."""
        return subprocess.Popen(
            [*self.inside(host), *command],
            cwd=Path(__file__).parent,
            env={**os.environ, "GLOO_SOCKET_IFNAME": CABLE, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def cut(self) -> None:
        """Cut the cable: what is sent from now on is silently lost."""
        _run(*self.inside(0), "ip", "link", "set", CABLE, "down")

    def close(self) -> None:
        """Give everything back."""
        for keeper in self._keepers:
            keeper.kill()
            keeper.communicate()
