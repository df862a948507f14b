# The figures of the relay's level 3, of lists of jobs; see docs/ship/relay.md.
import json
from datetime import UTC, datetime, timedelta

import pytest
from recording import load

RELAY = load("openreg/tests/examples/packaging/relay_figures.py")
START = datetime(2026, 11, 29, 12, tzinfo=UTC)
GOOD = {
    "pass_rate": 1.0,
    "timeout_rate": 0.0,
    "overrun_rate": 0.0,
    "mean_queue_minutes": 10.0,
    "median_hours": 1.0,
}


def job(run=1, conclusion="success", queue=10, minutes=50, after=0):
    """A job as GitHub lists it: made ``after`` minutes, then in the queue, then run."""
    times = [after, after + queue, after + queue + minutes]
    keys = ("created_at", "started_at", "completed_at")
    made = [(START + timedelta(minutes=it)).isoformat() for it in times]
    return {
        "run_id": run,
        "conclusion": conclusion,
        **dict(zip(keys, made, strict=True)),
    }


def figures(jobs):
    return RELAY.figures(RELAY.finished([json.dumps(it) for it in jobs]))


@pytest.mark.parametrize(
    ("jobs", "changed"),
    [
        ([job()], {}),
        ([job()] * 3 + [job(conclusion="failure")], {"pass_rate": 0.75}),
        ([job(), job(conclusion="skipped"), job(conclusion=None)], {}),
        (
            [job()] * 9 + [job(conclusion="timed_out", minutes=240, run=2)],
            {"pass_rate": 0.9, "timeout_rate": 0.1, "median_hours": (1 + 250 / 60) / 2},
        ),
        ([job(minutes=181, run=run) for run in (1, 2)]
         + [job(run=run) for run in (3, 4, 5)], {"overrun_rate": 0.4}),
        ([job(queue=40, minutes=20), job(queue=20, minutes=40)],
         {"mean_queue_minutes": 30.0}),
        # Two jobs of a run, one after the other: two hours from the event to the end.
        ([job(), job(after=60)], {"median_hours": 2.0}),
    ],
)  # fmt: skip
def test_the_figures_are_those_of_the_rfc(jobs, changed):
    assert figures(jobs) == pytest.approx(GOOD | changed)


@pytest.mark.parametrize("name", RELAY.LIMITS)
def test_a_figure_at_its_limit_does_not_meet_it(name):
    assert not RELAY.meets(name, RELAY.LIMITS[name])
    assert RELAY.meets(name, GOOD[name])


@pytest.mark.parametrize(
    ("jobs", "status", "printed"),
    [
        ([job()], 0, "pass_rate            1.00 >  0.90  met"),
        ([job(conclusion="failure")], 1, "pass_rate            0.00 >  0.90  MISSED"),
        ([job(conclusion=None)], 2, "no job in"),
    ],
)
def test_the_command_says_which_limit_is_missed(
    jobs, status, printed, tmp_path, capsys
):
    file = tmp_path / "jobs.json"
    file.write_text("".join(f"{json.dumps(it)}\n" for it in jobs))
    assert RELAY.main(str(file)) == status
    assert printed in "".join(capsys.readouterr())
