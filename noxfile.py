"""What every `nox` session does; CONTRIBUTING.md explains when to use which."""

# /// script
# requires-python = ">=3.11"
# dependencies = ["nox>=2024.10.9"]
# ///
import os
import shutil
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tests"))

from nox_support import arm, strict  # noqa: E402
from nox_support.driver import STRICT, test_driver  # noqa: E402
from nox_support.environments import (  # noqa: E402
    HERE,
    LOCKS,
    Target,
    chosen_target,
    environment,
    fingerprint,
    is_current,
    new_environment,
    refuse_arguments,
    run,
    step,
    torch_of,
    tracked_files,
)
from nox_support.kit import KIT_SOURCES, install_kit  # noqa: E402
from nox_support.machine import THIS, check_machine  # noqa: E402
from nox_support.opencl import OPENCL_PAGES, try_opencl  # noqa: E402
from nox_support.qemu import try_on_arm  # noqa: E402
from nox_support.quiet import quietly  # noqa: E402
from nox_support.releases import compare_releases, try_releases  # noqa: E402
from nox_support.serving import SERVING_PAGES, try_serving  # noqa: E402
from nox_support.site import FIRST_PAGES, SITE, find_pages, render  # noqa: E402
from nox_support.soak import run_soak  # noqa: E402
from nox_support.starter import (  # noqa: E402
    STARTER_SOURCES,
    train_on_starter,
    write_pages,
)
from nox_support.triton import TRITON_PAGES, try_triton  # noqa: E402
from nox_support.typed import check_types  # noqa: E402
from nox_support.wheels import check_wheel  # noqa: E402

BUILD = ROOT / "build"
WHEELS = BUILD / "dist"
PACKAGES = [
    "openreg/torch_openreg",
    "openreg/torch_openreg_compare",
    "openreg/torch_openreg_diagnose",
]
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
MEASURE_OPERATORS = "openreg/tests/tools/measure_operators.py"
OPERATOR_SOURCES = [
    *BACKEND_SOURCES,
    MEASURE_OPERATORS,
    "openreg/tests/tools/sweep",
    "requirements/tests.txt",
]
SITE_SOURCES = [*OPERATOR_SOURCES, *KIT_SOURCES, "docs", "requirements/docs.txt"]
SITE_SOURCES += [
    "openreg/benchmarks",  # pages show programs and what they recorded
    "openreg/tests/examples",
]
# What the examples of a page depend on, besides the page itself.
EXAMPLE_SOURCES = [
    *OPERATOR_SOURCES,
    *KIT_SOURCES,
    "docs/_ext",
    *("openreg/tests/autoload", "openreg/tests/custom", "openreg/tests/python_only"),
    "openreg/tests/examples",
    *STARTER_SOURCES,
    "openreg/tests/tools/device_generic.py",
    "openreg/tests/tools/sweep_operators.py",
    "requirements/docs.txt",
]
BACKEND_TESTS = "openreg/tests"
# It waits for slow kernels, and comes first: the other tests compute meanwhile.
LONGEST_WAIT = f"{BACKEND_TESTS}/ship/test_conformance_variants.py"
# One more than there are cores: tests often wait, for processes, streams and compilers.
PARALLEL = ["-n", str(min(4, (os.cpu_count() or 1) + 1))]
BY_FILE = [*PARALLEL, "--dist", "loadfile"]  # a file makes its fixtures once
nox.options.sessions = ["lint", "tests", "docs"]

# torch takes gigabytes, so there is not one environment a session, which is what nox
# would create, but one a purpose, shared by sessions: see environment().
session_without_venv = nox.session(venv_backend="none")


@session_without_venv
def build(session: nox.Session) -> None:
    """Build the backend as a wheel in build/dist, check it, and install it."""
    refuse_arguments(session)
    tools = install_backend(session)
    wheel = next(WHEELS.glob("*.whl"))
    check_wheel(session, tools, wheel)
    session.log(f"wheel: {wheel}")


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
        suites = [LONGEST_WAIT, BACKEND_TESTS, "tests"]
        in_order = [*BY_FILE, "--no-loadscope-reorder"]
        run(session, tools, "python", "-m", "pytest", *in_order, *suites)
    with step(session, "Python tests of the snippet contract"):
        docs_tools = environment(session, "docs")
        run(session, docs_tools, "python", "-m", "pytest", *PARALLEL, "docs/_ext/tests")
    test_driver(session, tools)


@nox.session(name="tests-on", venv_backend="none", default=False)
def tests_on(session: nox.Session) -> None:
    """Run tests and examples on another torch: -- cuda [smoke] [3.13], -- 2.15.0."""
    target, smoke = chosen_target(session)
    tools = install_backend(session, target)
    torch, _ = torch_of(session, tools)
    what = f"Python {target.python.version} with torch {torch}"
    with step(session, f"tests of the backend, {what}"):
        chosen = ["-m", "smoke"] if smoke else []
        run(session, tools, "python", "-m", "pytest", *BY_FILE, *chosen, BACKEND_TESTS)
    run_pages(session, *(FIRST_PAGES if smoke else []), target=target)
    second = " (NO SECOND PYTHON: THE ONE OF NOX)" if target.python is THIS else ""
    (BUILD / "tests-on.txt").write_text(f"{what}{second}\n")  # for .ci/run
    session.log(f"passed: {what}{second}")


@nox.session(venv_backend="none", default=False)
def versions(session: nox.Session) -> None:
    """Try the releases of torch one by one, show and record a table; -- 2.15.0 ..."""
    try_releases(session, install_backend, WHEELS)


@nox.session(venv_backend="none", default=False)
def surface(session: nox.Session) -> None:
    """Compare the extension points of two releases of torch: -- 2.14.1 2.15.0."""
    compare_releases(session)


@session_without_venv
def doctest(session: nox.Session) -> None:
    """Run every example of the guide on an openreg device; -- PAGE runs one page."""
    run_pages(session, *session.posargs)


@session_without_venv
def docs(session: nox.Session) -> None:
    """Build the backend, render the guide to build/site, run all its examples."""
    refuse_arguments(session)
    with quietly(session, BUILD / "docs.log"):
        build_site(session)


@nox.session(venv_backend="none", default=False)
def live(session: nox.Session) -> None:
    """Serve the guide and render what changes; runs no examples. -- OPTIONS."""
    check_machine(session)
    measure_operators(session)
    environment(session, "docs")  # the next one borrows from it
    tools = environment(session, "live")
    command = [
        "sphinx-autobuild",
        "-d",
        "build/live-doctrees",
        "--watch",
        "openreg/csrc",
    ]
    run(session, tools, *command, *session.posargs, "docs", "build/live")


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
        run(session, tools, "python", "docs/_ext/measure_coverage.py", *PARALLEL)


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


@nox.session(venv_backend="none", default=False)
def opencl(session: nox.Session) -> None:
    """Run the backend on OpenCL, driver and kernels; -- drop-in, the driver alone."""
    try_opencl(
        session, install_backend(session), environment(session, "docs"), BACKEND_SOURCES
    )


@nox.session(venv_backend="none", default=False)
def triton(session: nox.Session) -> None:
    """Compile Triton kernels for the device; -- short, without the zoo of models."""
    install_backend(session)
    docs_tools = environment(session, "docs")
    environment(session, "clients")  # the next one borrows from it
    try_triton(session, environment(session, "triton"), docs_tools, BY_FILE)


@nox.session(venv_backend="none", default=False)
def serving(session: nox.Session) -> None:
    """Serve models with vLLM on the device; arguments after -- go to pytest."""
    install_backend(session)
    try_serving(session, environment(session, "serving"), environment(session, "docs"))


@nox.session(venv_backend="none", default=False)
def aarch64(session: nox.Session) -> None:
    """Cross-build for Arm, and run tests under qemu; as root, takes half an hour."""
    try_on_arm(session, environment(session, "tests"), BACKEND_SOURCES)


@nox.session(venv_backend="none", default=False)
def compiler(session: nox.Session) -> None:
    """Compile the operator database for the device: takes an hour."""
    tools = install_backend(session)
    command = ["python", "-m", "pytest", *PARALLEL, "openreg/tests/modules/compiler"]
    with step(session, "tests of what Inductor generates"):
        run(session, tools, *command, *session.posargs)


@session_without_venv
def bench(session: nox.Session) -> None:
    """Compare openreg tensors with CPU tensors: a table, and build/bench.json."""
    tools = install_backend(session)
    report = BUILD / "bench.json"
    script = "openreg/benchmarks/run.py"
    run(session, tools, "python", script, "--json", str(report), *session.posargs)
    session.log(f"figures: {report}")


@nox.session(venv_backend="none", default=False)
def starter(session: nox.Session) -> None:
    """Build the starter backend and the driver in build/starter, and train on it."""
    refuse_arguments(session)
    check_machine(session)
    train_on_starter(session, environment(session, "tests"), BUILD / "starter")


@nox.session(venv_backend="none", default=False)
def ladder(session: nox.Session) -> None:
    """Build the ladder, check its page; -- all, -- knockouts, -- conformance."""
    write_pages(session, install_backend)


@nox.session(venv_backend="none", default=False)
def clone(session: nox.Session) -> None:
    """Copy the large backend under another name, build it, run its tests; -- FILES."""
    tools = install_backend(session)
    script = "openreg/tests/tools/copies.py"
    with step(session, "building the copy of the large backend"):
        run(session, tools, "python", script, *session.posargs)


@nox.session(venv_backend="none", default=False)
def sweep(session: nox.Session) -> None:
    """Compare the operator database with the CPU, all samples; -- --quick for a few."""
    tools = install_backend(session)
    report = BUILD / "sweep.json"
    script = "openreg/tests/tools/sweep_operators.py"
    options = ["--full", "--json", str(report), *session.posargs]
    run(session, tools, "python", script, *options)
    session.log(f"verdicts: {report}")


@nox.session(venv_backend="none", default=False)
def soak(session: nox.Session) -> None:
    """Run random programs for 30 minutes; -- --minutes N --sanitize."""
    run_soak(session, install_backend(session))


@session_without_venv
def lint(session: nox.Session) -> None:
    """Check style, spelling, types, workflows; `-- --fix` repairs style."""
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
    run(session, tools, "python", "tests/lint_language.py", *files)
    run(session, tools, "python", "tests/sentence_lengths.py")
    run(session, tools, "python", "tests/lint_workflows.py")
    check_types(session, PACKAGES)
    strict.compile_strictly(session, fingerprint(BACKEND_SOURCES))
    arm.compile_for_arm(session, fingerprint(BACKEND_SOURCES))


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


def install_backend(session: nox.Session, target: Target = HERE) -> Path:
    """The tools of the `tests` environment, with the backend of these sources in it."""
    check_machine(session)
    tools = environment(session, "tests", target)
    wheels = WHEELS.with_name(target.named(WHEELS.name))
    cmake_arguments = os.environ.get("CMAKE_ARGS", "")
    key = fingerprint(BACKEND_SOURCES, target.python.version, cmake_arguments)
    built, installed = wheels / ".key", tools.parent / ".backend-key"
    if not is_current(built, key):
        with step(session, "building the backend"):
            # setuptools would also pack what an earlier build left there.
            for left in (wheels, *BUILD.glob("lib.*"), *BUILD.glob("bdist.*")):
                shutil.rmtree(left, ignore_errors=True)
            flags = ["--no-build-isolation", "--no-deps", "--verbose"]
            run(session, tools, "pip", "wheel", *flags, "-w", str(wheels), ".")
            built.write_text(key)
            if STRICT in cmake_arguments:
                strict.STAMP.write_text(fingerprint(BACKEND_SOURCES))
    if not is_current(installed, key):
        flags = ["--no-deps", "--force-reinstall", "--quiet"]
        wheel = next(wheels.glob("torch_openreg-*.whl"))
        run(session, tools, "pip", "install", *flags, str(wheel))
        installed.write_text(key)
    install_kit(session, tools)
    return tools


def run_pages(session: nox.Session, *pages: str, target: Target = HERE) -> None:
    """Runs the examples of these pages, or of all."""
    install_backend(session, target)
    tools = environment(session, "docs", target)
    with step(session, "running the examples of the guide"):
        script, report = "docs/_ext/run_pages.py", f"build/{target.named('pages')}.json"
        run(session, tools, "python", script, "--json", report, *pages)


def run_changed_pages(session: nox.Session) -> None:
    """Runs the pages whose text or sources changed since their examples all passed."""
    sources = fingerprint(EXAMPLE_SOURCES)
    pages = sorted(str(path.relative_to(ROOT)) for path in find_pages())
    elsewhere = (OPENCL_PAGES, TRITON_PAGES, SERVING_PAGES)
    keys = {p: fingerprint([p], sources) for p in pages if not p.startswith(elsewhere)}
    stamps = {p: BUILD / "pages" / f"{p.replace('/', '-')}.key" for p in keys}
    stale = [page for page in keys if not is_current(stamps[page], keys[page])]
    if not stale:
        session.log("examples: unchanged since they passed; nox -s doctest runs them")
        return
    # Without names all of them run: a command with every name is hard to read.
    run_pages(session, *(stale if len(stale) < len(keys) else []))
    for page in stale:
        stamps[page].parent.mkdir(parents=True, exist_ok=True)
        stamps[page].write_text(keys[page])


def build_site(session: nox.Session) -> None:
    check_machine(session)
    key = fingerprint(SITE_SOURCES)
    measure_operators(session)
    render(session, environment(session, "docs"), SITE_SOURCES)
    index = SITE / "index.html"
    session.log(f"Now you can read the guide, while its examples run: {index}")
    run_changed_pages(session)
    (SITE / ".key").write_text(key)
    session.log(f"The guide is ready, and its examples passed. Open {index}")
    session.log(f"or, in a browser, {index.as_uri()}")


def measure_operators(session: nox.Session) -> None:
    """Measures which operators run where, for a page, if that may have changed."""
    key, stamp = fingerprint(OPERATOR_SOURCES), BUILD / "operators.key"
    if is_current(stamp, key):
        return
    tools = install_backend(session)
    with step(session, "measuring the operators"):
        report = str(BUILD / "operators.json")
        run(session, tools, "python", MEASURE_OPERATORS, report)
    stamp.write_text(key)


if __name__ == "__main__":
    nox.main()
