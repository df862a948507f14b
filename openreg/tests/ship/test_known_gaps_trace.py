# Traces of the profiler of torch 2.13; see docs/ship/known-gaps-eager.md.
import json

import pytest
import torch
from torch.profiler import ProfilerActivity, profile, record_function
from torch_release import has_changed


@pytest.mark.parametrize("activity", ["CPU", "PrivateUse1"])
@pytest.mark.parametrize("name", ['step "0"', "step 0", "step \\ 0", "step '0'"])
def test_a_quote_in_the_name_of_a_range_breaks_the_trace(tmp_path, activity, name):
    activities = {ProfilerActivity.CPU, getattr(ProfilerActivity, activity)}
    with profile(activities=activities) as prof, record_function(name):
        torch.ones(2, device="openreg").add(1).cpu()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    if '"' in name and not has_changed("a trace replaces quotes in names"):
        with pytest.raises(json.JSONDecodeError):
            json.loads(path.read_text())
    else:
        names = [
            event.get("name", "")
            for event in json.loads(path.read_text())["traceEvents"]
        ]
        assert any(name.startswith("step") for name in names)
