# What Triton's runtime asks the driver; see docs/modules/triton-launch.md.
import pytest
import torch
import triton
import triton.language as tl
from triton.runtime import driver
from triton.runtime.errors import OutOfResources


@triton.jit
def double(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    mask = i < n
    tl.store(x + i, tl.load(x + i, mask=mask) * 2, mask=mask)


def test_the_driver_of_this_device_is_the_active_one():
    active = driver.active
    assert type(active).__name__ == "OpenRegDriver"
    assert active.get_current_target().backend == "openreg"
    assert active.get_active_torch_device() == torch.device("openreg:0")
    assert active.get_device_interface() is torch.openreg


def test_device_and_stream_are_those_of_torch():
    active, stream = driver.active, torch.openreg.Stream(1)
    assert active.get_current_stream(0) == 0  # the default stream of any device
    with torch.openreg.device(1), stream:
        assert active.get_current_device() == 1
        assert active.get_active_torch_device() == torch.device("openreg:1")
        assert active.get_current_stream(1) == stream.native_handle
    active.set_current_device(1)
    assert torch.openreg.current_device() == 1


def test_properties():
    found = driver.active.utils.get_device_properties(0)
    properties = torch.openreg.get_device_properties(0)
    assert found["multiprocessor_count"] == properties.multi_processor_count
    assert found["max_shared_mem"] == 4 << 20
    assert found["arch"] == "1.0"


def test_a_block_that_is_too_large_is_refused_before_the_launch():
    @triton.jit
    def total(x, n, B: tl.constexpr):
        i = tl.arange(0, B)
        block = tl.load(x + i)
        for _ in range(n):  # what a loop carries is kept in memory
            block += tl.cumsum(block)
        tl.store(x + i, block)

    x = torch.ones(1 << 20, device="openreg", dtype=torch.float64)
    with pytest.raises(OutOfResources, match=r"shared memory.*limit: 4194304"):
        total[(1,)](x, 2, B=1 << 20)
    assert x[0].item() == 1


def test_types_of_c():
    """For programs that launch without Python, such as those of triton.tools."""
    expected = {
        **{"*fp32": "void*", "i1": "int8_t", "i32": "int32_t", "u64": "uint64_t"},
        **{"fp32": "float", "fp64": "double", "fp16": "uint16_t", "bf16": "uint16_t"},
    }
    found = {name: driver.active.map_python_to_cpp_type(name) for name in expected}
    assert found == expected


def test_timing():
    x = torch.zeros(100, device="openreg")
    times = triton.testing.do_bench(
        lambda: double[(1,)](x, 100, B=128), warmup=1, rep=5, return_mode="all"
    )
    assert times and all(time > 0 for time in times)


def test_autotune():
    configs = [triton.Config({"B": size}, num_warps=4) for size in (32, 128)]
    tuned = triton.autotune(configs, key=["n"], restore_value=["x"])(double)
    x = torch.ones(100, device="openreg")
    tuned[lambda meta: (triton.cdiv(100, meta["B"]),)](x, 100)
    assert x.tolist() == [2.0] * 100
    assert tuned.best_config in configs


# -- which driver is active --


def test_without_a_device_no_driver_is_active(run_python):
    process = run_python(
        "import triton; triton.runtime.driver.active", OPENREG_DEVICE_COUNT="0"
    )
    assert "0 active drivers" in process.stderr


@pytest.fixture
def second_driver(tmp_path):
    """Install a backend whose driver is active as well, as on a machine with a GPU."""
    package = tmp_path / "other_backend"
    package.mkdir()
    (package / "__init__.py").touch()
    for module, kind in (("compiler", "Backend"), ("driver", "Driver")):
        (package / f"{module}.py").write_text(
            f"from triton_openreg.{module} import OpenReg{kind} as Base\n"
            f"class Other{kind}(Base): ...\ndel Base\n"
        )
    information = tmp_path / "other_backend-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: other_backend\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(
        "[triton.backends]\nother = other_backend\n"
    )
    return str(tmp_path)


def test_of_two_active_drivers_one_must_be_chosen(run_python, second_driver):
    program = f"""
        import sys
        sys.path.insert(0, {second_driver!r})
        import triton
        print(type(triton.runtime.driver.active).__name__)
    """
    process = run_python(program)
    assert "2 active drivers" in process.stderr
    for name, expected in (("openreg", "OpenRegDriver"), ("other", "OtherDriver")):
        process = run_python(program, TRITON_DEFAULT_BACKEND=name)
        assert process.stdout == f"{expected}\n", process.stderr


def test_the_package_may_be_imported_before_triton(run_python):
    process = run_python("import triton_openreg, triton; print(triton.__name__)")
    assert process.stdout == "triton\n", process.stderr
