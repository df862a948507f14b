"""What every `nox` session does; CONTRIBUTING.md tells when to use which."""

# /// script
# requires-python = ">=3.11"
# dependencies = ["nox>=2024.10.9"]
# ///
import contextlib
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nox

ROOT = Path(__file__).resolve().parent
BUILD = ROOT / "build"
WHEELS = BUILD / "dist"
SITE = BUILD / "site"
DRIVER = ROOT / "openreg" / "third_party" / "openreg"
LOCKS = ROOT / "requirements"
PACKAGES = ["openreg/torch_openreg", "openreg/torch_openreg_diagnose"]
BACKEND_SOURCES = [
    "CMakeLists.txt",
    "cmake",
    "openreg/csrc",
    "openreg/third_party",
    *PACKAGES,
    "pyproject.toml",
    "requirements/torch.txt",
    "setup.py",
]
# What an editable installation puts into the package.
INSTALLED = ["openreg/torch_openreg/include", "openreg/torch_openreg/share"]
OPERATOR_SOURCES = [
    *BACKEND_SOURCES,
    "openreg/tests/measure_operators.py",
    "openreg/tests/sweep",
    "requirements/tests.txt",
]
SITE_SOURCES = [*OPERATOR_SOURCES, "docs", "requirements/docs.txt"]
# What the examples of a page depend on, besides the page itself.
EXAMPLE_SOURCES = [
    *OPERATOR_SOURCES,
    "docs/_ext",
    *("openreg/tests/autoload", "openreg/tests/custom", "openreg/tests/python_only"),
    "openreg/tests/device_generic.py",
    "openreg/tests/examples",
    "openreg/tests/sweep_operators.py",
    "requirements/docs.txt",
]
TYPED_PROGRAMS = ["openreg/tests/typed_user.py", "tests/lint_repository.py"]
TYPED_SOURCES = {  # by the environment that has what they import
    "tests": ["noxfile.py", *PACKAGES, *TYPED_PROGRAMS],
    "docs": ["docs/_ext"],
}
PARALLEL = ["-n", "auto", "--maxprocesses", "4"]
NO_GOOGLETEST = "GoogleTest is missing"  # what the driver's CMake says without it
BORROWS = {  # environments from others
    "docs": ["tests"],
    "clients": ["tests"],
    "coverage": ["docs", "tests"],
}
OLDEST_PYTHON = (3, 11)
OLDEST_CMAKE = (3, 25)

nox.options.sessions = ["lint", "tests", "docs"]

# torch takes gigabytes, so there is not one environment a session, which is what nox
# would create, but one a purpose, shared by sessions: see environment().
session_without_venv = nox.session(venv_backend="none")


@session_without_venv
def build(session: nox.Session) -> None:
    """Build the backend as a wheel in build/dist and install it for the tests."""
    refuse_arguments(session)
    install_backend(session)
    session.log(f"wheel: {next(WHEELS.glob('*.whl'))}")


@session_without_venv
def tests(session: nox.Session) -> None:
    """Run all tests: backend, tools, driver. Arguments after -- go to pytest alone."""
    tools = install_backend(session)
    if session.posargs:
        wants_docs = any(argument.startswith("docs/") for argument in session.posargs)
        chosen = environment(session, "docs") if wants_docs else tools
        run(session, chosen, "python", "-m", "pytest", *session.posargs)
        return
    with step(session, "Python tests of the backend and of the tools"):
        suites = ["openreg/tests", "tests"]
        run(session, tools, "python", "-m", "pytest", *PARALLEL, *suites)
    with step(session, "Python tests of the snippet contract"):
        docs_tools = environment(session, "docs")
        run(session, docs_tools, "python", "-m", "pytest", *PARALLEL, "docs/_ext/tests")
    test_driver(session, tools)


@session_without_venv
def doctest(session: nox.Session) -> None:
    """Run every example of the guide on an openreg device; -- PAGE runs one page."""
    run_pages(session, *session.posargs)


@session_without_venv
def docs(session: nox.Session) -> None:
    """Build the backend, run every example of the guide, render it to build/site."""
    refuse_arguments(session)
    build_site(session)


@session_without_venv
def coverage(session: nox.Session) -> None:
    """Show which lines of the guide's snippets no test ran; builds with gcov."""
    refuse_arguments(session)
    check_machine(session)
    if not all(map(shutil.which, ("g++", "gcov"))):
        session.error(
            "g++ and its gcov are not on PATH; only they count lines. "
            "Install them (Debian, Ubuntu: apt-get install g++)"
        )
    for name in ("tests", "docs", "coverage"):  # the last borrows from the others
        tools = environment(session, name)
    with step(session, "counting the lines that tests and pages run"):
        run(session, tools, "python", "docs/_ext/measure_coverage.py")


@session_without_venv
def browser(session: nox.Session) -> None:
    """Try the rendered guide in a headless Chromium; renders it first where needed."""
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        session.error(
            "Chromium is not on PATH. Install it "
            "(Debian, Ubuntu: apt-get install chromium)"
        )
    if not is_current(SITE / ".key", fingerprint(SITE_SOURCES)):
        build_site(session)
    tools = environment(session, "browser")
    with step(session, "browser tests"):
        command = ["python", "-m", "pytest", *PARALLEL, "docs/_tests"]
        run(session, tools, *command, *session.posargs)


@session_without_venv
def clients(session: nox.Session) -> None:
    """Train with accelerate, ignite and transformers on an openreg device."""
    install_backend(session)
    tools = environment(session, "clients")
    with step(session, "tests of libraries that use the device"):
        quiet = ["-W", "ignore", "--no-header"]  # their warnings are not ours
        command = ["python", "-m", "pytest", *quiet, *PARALLEL, "openreg/tests/clients"]
        run(session, tools, *command, *session.posargs)


@session_without_venv
def bench(session: nox.Session) -> None:
    """Compare openreg tensors with CPU tensors: a table, and build/bench.json."""
    tools = install_backend(session)
    report = BUILD / "bench.json"
    script = "openreg/benchmarks/run.py"
    run(session, tools, "python", script, "--json", str(report), *session.posargs)
    session.log(f"figures: {report}")


@session_without_venv
def lint(session: nox.Session) -> None:
    """Check style, spelling, types and the repository; `-- --fix` repairs style."""
    fix = session.posargs == ["--fix"]
    if session.posargs and not fix:
        session.error(f"lint takes no argument but --fix, not {session.posargs}")
    tools = environment(session, "lint")
    files = tracked_files(session)
    cpp = [name for name in files if name.endswith((".h", ".c", ".cpp"))]
    run(session, tools, "ruff", "check", *(["--fix"] if fix else []))
    run(session, tools, "ruff", "format", *([] if fix else ["--check"]))
    clang_format = ["-i"] if fix else ["--dry-run", "-Werror"]
    run(session, tools, "clang-format", *clang_format, *cpp)
    run(session, tools, "codespell", *files)
    run(session, tools, "python", "tests/lint_repository.py", *files)
    for name, sources in TYPED_SOURCES.items():  # last: needs torch and Sphinx
        python = str(environment(session, name) / "python")
        run(session, tools, "mypy", "--python-executable", python, *sources)


@nox.session(venv_backend="none", default=False)
def lock(session: nox.Session) -> None:
    """Resolve requirements/*.in to the newest versions and rewrite the lock files."""
    tools = new_environment(session, "lock")
    for name in session.posargs or sorted(path.stem for path in LOCKS.glob("*.in")):
        source = LOCKS / f"{name}.in"
        if not source.exists():
            session.error(f"there is no {source.relative_to(ROOT)} to lock")
        run(session, tools, "python", "requirements/lock.py", name)


# --- The backend and the guide --------------------------------------------------------


def install_backend(session: nox.Session) -> Path:
    """The tools of the `tests` environment, with the backend of these sources in it."""
    check_machine(session)
    tools = environment(session, "tests")
    key = fingerprint(BACKEND_SOURCES)
    built, installed = WHEELS / ".key", tools.parent / ".backend-key"
    if not is_current(built, key):
        with step(session, "building the backend"):
            # setuptools would pack what an earlier build left there, too.
            for left in (WHEELS, *BUILD.glob("lib.*"), *BUILD.glob("bdist.*")):
                shutil.rmtree(left, ignore_errors=True)
            flags = ["--no-build-isolation", "--no-deps", "--verbose"]
            run(session, tools, "pip", "wheel", *flags, "-w", str(WHEELS), ".")
            built.write_text(key)
    if not is_current(installed, key):
        flags = ["--no-deps", "--force-reinstall", "--quiet"]
        wheel = next(WHEELS.glob("torch_openreg-*.whl"))
        run(session, tools, "pip", "install", *flags, str(wheel))
        installed.write_text(key)
    return tools


def run_pages(session: nox.Session, *pages: str) -> Path:
    """Runs the examples of all pages; the tools of the `docs` environment."""
    install_backend(session)
    tools = environment(session, "docs")
    with step(session, "running the examples of the guide"):
        script = "docs/_ext/run_pages.py"
        run(session, tools, "python", script, "--json", "build/pages.json", *pages)
    return tools


def run_changed_pages(session: nox.Session) -> Path:
    """Runs the pages whose text or sources changed since their examples all passed."""
    sources = fingerprint(EXAMPLE_SOURCES)
    stale = {}
    for page in sorted(str(path.relative_to(ROOT)) for path in find_pages()):
        stamp = BUILD / "pages" / f"{page.replace('/', '-')}.key"
        key = fingerprint([page], sources)
        if not is_current(stamp, key):
            stale[page] = (stamp, key)
    if not stale:
        session.log("examples: unchanged since they passed; nox -s doctest runs them")
        return environment(session, "docs")
    tools = run_pages(session, *stale)
    for stamp, key in stale.values():
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(key)
    return tools


def find_pages() -> list[Path]:
    """The pages of the guide: folders that start with `_` hold none."""
    docs = ROOT / "docs"
    pages = docs.rglob("*.md")
    return [page for page in pages if "/_" not in f"/{page.relative_to(docs)}"]


def build_site(session: nox.Session) -> None:
    check_machine(session)
    key = fingerprint(SITE_SOURCES)
    measure_operators(session)
    tools = run_changed_pages(session)
    shutil.rmtree(SITE, ignore_errors=True)  # no page of an earlier build survives
    # -E reads every page anew: without it, -W passes the second time despite a fault.
    options = ["-W", "-n", "-E", "--keep-going", "-j", "auto"]
    output = ["-b", "html", "-d", "build/doctrees"]
    with step(session, "rendering the guide"):
        run(session, tools, "sphinx-build", *options, *output, "docs", "build/site")
    (SITE / ".key").write_text(key)
    index = SITE / "index.html"
    session.log(f"The guide is ready. Open {index}")
    session.log(f"or, in a browser, {index.as_uri()}")


def measure_operators(session: nox.Session) -> None:
    """Measures which operators run where, for a page, if that may have changed."""
    key, stamp = fingerprint(OPERATOR_SOURCES), BUILD / "operators.key"
    if is_current(stamp, key):
        return
    tools = install_backend(session)
    with step(session, "measuring the operators"):
        report = str(BUILD / "operators.json")
        run(session, tools, "python", "openreg/tests/measure_operators.py", report)
    stamp.write_text(key)


def test_driver(session: nox.Session, tools: Path) -> None:
    """Runs the driver's C++ tests: as they are, and under two sanitizers."""
    quietly = {"silent": True, "success_codes": [0, 1]}
    for sanitizer in ("", "address", "thread"):
        name = sanitizer or "plain"
        directory = str(BUILD / f"driver-{name}")
        options = ["-DOPENREG_BUILD_TESTS=ON", f"-DOPENREG_SANITIZE={sanitizer}"]
        configure = ["cmake", "-G", "Ninja", "-S", str(DRIVER), "-B", directory]
        with step(session, f"C++ tests of the driver, {name}"):
            output = run(session, tools, *configure, *options, **quietly)
            if NO_GOOGLETEST in output:
                session.warn(
                    "GOOGLETEST IS MISSING: THE DRIVER'S C++ TESTS DID NOT RUN. "
                    "Install it (Debian, Ubuntu: apt-get install libgtest-dev)"
                )
                return
            run(session, tools, "cmake", "--build", directory)
            parallel = ["--parallel", str(os.cpu_count() or 1)]
            report = ["--output-on-failure", "--test-dir", directory]
            run(session, tools, "ctest", *parallel, *report)


# --- The machine and its environments -------------------------------------------------


def check_machine(session: nox.Session) -> None:
    """Refuses a machine that cannot build the backend, with one line that says why."""
    if not sys.platform.startswith("linux"):
        session.error(f"OpenReg needs Linux; this is {sys.platform}")
    if sys.version_info < OLDEST_PYTHON:
        found = ".".join(map(str, sys.version_info[:3]))
        session.error(
            f"OpenReg needs Python 3.11 or newer; nox runs on {found}. "
            "Run it with another one: python3.11 -m nox ..."
        )
    headers = Path(sysconfig.get_path("include")) / "Python.h"
    if not headers.exists():
        session.error(
            f"Python's headers are missing ({headers}). "
            "Install them (Debian, Ubuntu: apt-get install python3-dev)"
        )
    chosen = shlex.split(os.environ.get("CXX", ""))[:1]
    if not any(map(shutil.which, chosen or ("c++", "g++", "clang++"))):
        wanted = f"CXX={chosen[0]}" if chosen else "c++, g++ or clang++"
        session.error(
            f"There is no {wanted} on PATH to compile C++ with. "
            "Install a compiler (Debian, Ubuntu: apt-get install g++)"
        )
    check_cmake(session)


def check_cmake(session: nox.Session) -> None:
    wanted = ".".join(map(str, OLDEST_CMAKE))
    advice = f"Install CMake {wanted} or newer (Debian, Ubuntu: apt-get install cmake)"
    if shutil.which("cmake") is None:
        session.error(f"cmake is not on PATH. {advice}")
    answer = subprocess.run(["cmake", "--version"], capture_output=True, text=True)
    version = re.search(r"version (\d+)\.(\d+)", answer.stdout)
    if version is None:
        session.error(f"cmake is broken: cmake --version fails. {advice}")
    if tuple(map(int, version.groups())) < OLDEST_CMAKE:
        session.error(f"cmake is too old: {'.'.join(version.groups())}. {advice}")


def environment(session: nox.Session, name: str) -> Path:
    """The directory of the tools that requirements/<name>.txt locks."""
    home = ROOT / ".nox" / name
    lock_file = LOCKS / f"{name}.txt"
    key = fingerprint([lock_file, LOCKS / "torch.txt"], str(home))
    if is_current(home / ".key", key):
        return home / "bin"
    with step(session, f"environment {name}"):
        tools = new_environment(session, name)
        # --no-compile: Python compiles what it imports; all of torch takes longer.
        options = ["--no-compile", "-r", str(lock_file)]
        if name in BORROWS:  # nothing that is borrowed, only what the lock names
            options.append("--no-deps")
        run(session, tools, "pip", "install", *options)
        borrow(home, *(ROOT / ".nox" / lender for lender in BORROWS.get(name, [])))
        (home / ".key").write_text(key)
    return tools


def new_environment(session: nox.Session, name: str) -> Path:
    home = ROOT / ".nox" / name
    # virtualenv comes with nox; Debian's venv module is a package of its own.
    virtualenv = [sys.executable, "-m", "virtualenv", "--clear", "--quiet"]
    session.run(*virtualenv, str(home), external=True)
    return home / "bin"


def borrow(borrower: Path, *lenders: Path) -> None:
    """Lets an environment import what is in others: torch is too big to have twice.

    The lenders come last on sys.path, so what the borrower's own lock says wins.
    """
    packages = Path("lib", f"python3.{sys.version_info.minor}", "site-packages")
    lines = [f"{lender / packages}\n" for lender in lenders]
    if lines:
        (borrower / packages / "borrowed.pth").write_text("".join(lines))


# --- Small helpers --------------------------------------------------------------------


def run(session: nox.Session, tools: Path, *command: str, **options: Any) -> str:
    """Runs a command that finds the programs of an environment first."""
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"
    program = shutil.which(command[0], path=path) or command[0]
    env: dict[str, str | None] = {"PATH": path, "VIRTUAL_ENV": str(tools.parent)}
    env["PYTHONDONTWRITEBYTECODE"] = None  # see --no-compile in environment()
    return str(session.run(program, *command[1:], external=True, env=env, **options))


@contextlib.contextmanager
def step(session: nox.Session, title: str) -> Iterator[None]:
    start = time.monotonic()
    session.log(f"== {title}")
    yield
    session.log(f"== {title}: {time.monotonic() - start:.1f} s")


def refuse_arguments(session: nox.Session) -> None:
    if session.posargs:
        session.error(f"{session.name} takes no arguments, not {session.posargs}")


def fingerprint(sources: list[str] | list[Path], *more: str) -> str:
    """A hash of files and folders without their tests/, the Python and the compiler."""
    digest = hashlib.sha256()
    settings = [sys.version, os.environ.get("CXX", ""), os.environ.get("CXXFLAGS", "")]
    for text in [*settings, *more]:
        digest.update(f"{text}\0".encode())
    for source in (ROOT / source for source in sources):
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            generated = path.suffix in (".pyc", ".so") or path.name == "_build_info.py"
            generated |= any(path.is_relative_to(ROOT / name) for name in INSTALLED)
            inside = path.relative_to(source).parts
            if path.is_file() and not generated and "tests" not in inside:
                digest.update(f"{path.relative_to(ROOT)}\0".encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()


def is_current(stamp: Path, key: str) -> bool:
    return stamp.exists() and stamp.read_text() == key


def tracked_files(session: nox.Session) -> list[str]:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = session.run(*listing, external=True, silent=True, log=False)
    return [name for name in str(names).splitlines() if (ROOT / name).is_file()]


if __name__ == "__main__":
    nox.main()
