# Training with accelerate on the device; see docs/frontend/libraries.md.
import pytest
import torch
from accelerate import Accelerator, cpu_offload, dispatch_model, infer_auto_device_map
from torch import nn
from torch.testing import assert_close
from torch.utils.data import DataLoader, TensorDataset


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def batches():
    torch.manual_seed(1)
    data = TensorDataset(torch.randn(12, 6), torch.randint(3, (12,)))
    return DataLoader(data, batch_size=4, pin_memory=True)


# LITERALINCLUDE START: TRAIN_ACCELERATE
def train(accelerator, epochs=2):
    model = network()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    model, optimizer, loader = accelerator.prepare(model, optimizer, batches())
    losses = []
    for _ in range(epochs):
        for inputs, targets in loader:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(inputs), targets)
                accelerator.backward(loss)
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            losses.append(accelerator.gather(loss.detach()))
    # LITERALINCLUDE END: TRAIN_ACCELERATE
    assert {inputs.device.type, loss.device.type} == {accelerator.device.type}
    return torch.stack(losses).cpu(), model, optimizer


@pytest.mark.parametrize("steps", [1, 2])
def test_training(steps, use_accelerator):
    accelerator = Accelerator(gradient_accumulation_steps=steps)
    assert accelerator.device == torch.accelerator.current_accelerator()
    losses, model, _ = train(accelerator)
    use_accelerator(False)
    expected, on_cpu, _ = train(Accelerator(gradient_accumulation_steps=steps))
    assert_close(losses, expected)
    assert_close([p.cpu() for p in model.parameters()], list(on_cpu.parameters()))


def test_without_the_variable_accelerate_takes_the_cpu(use_accelerator):
    use_accelerator(False)
    assert Accelerator().device.type == "cpu"


def test_a_checkpoint(use_accelerator, tmp_path):
    accelerator = Accelerator()
    _, model, _ = train(accelerator)
    expected = [p.detach().clone() for p in model.parameters()]
    accelerator.save_state(tmp_path)
    with torch.no_grad():
        for p in model.parameters():
            p.zero_()
    accelerator.load_state(tmp_path)
    assert_close(list(model.parameters()), expected)


def test_a_checkpoint_lacks_the_random_state_of_the_device(use_accelerator, tmp_path):
    accelerator = Accelerator()
    train(accelerator)
    accelerator.save_state(tmp_path)
    device = accelerator.device
    on_cpu, on_device = torch.randn(4), torch.randn(4, device=device)
    accelerator.load_state(tmp_path)
    assert torch.equal(torch.randn(4), on_cpu)
    assert not torch.equal(torch.randn(4, device=device), on_device)


def test_mixed_precision(use_accelerator):
    accelerator = Accelerator(mixed_precision="bf16")
    losses, _, _ = train(accelerator)
    with accelerator.autocast():
        x = torch.ones(2, 2, device=accelerator.device)
        assert (x @ x).dtype == torch.bfloat16
    use_accelerator(False)
    expected, _, _ = train(Accelerator())
    assert not torch.equal(losses, expected)
    assert_close(losses, expected, rtol=0.02, atol=0.02)


def test_accelerate_scales_gradients_for_devices_of_its_list_only(use_accelerator):
    with pytest.raises(ValueError, match="fp16 mixed precision requires a device in"):
        Accelerator(mixed_precision="fp16")


def test_weights_that_stay_on_the_host():
    model = network()
    x = torch.randn(5, 6)
    expected = model(x)
    device = torch.accelerator.current_accelerator()
    cpu_offload(model, execution_device=device)
    y = model(x.to(device))
    assert y.device.type == device.type
    assert_close(y.cpu(), expected)


def test_a_model_over_two_devices():
    model = network()
    x = torch.randn(5, 6)
    expected = model(x)
    name = torch.accelerator.current_accelerator().type
    first, second = (torch.device(name, index) for index in range(2))
    dispatch_model(model, {"0": first, "1": first, "2": second})
    assert model[2].weight.device == second
    assert_close(model(x).cpu(), expected)


def test_accelerate_plans_for_devices_of_its_list_only():
    with pytest.raises(ValueError, match="Device openreg:0 is not recognized"):
        infer_auto_device_map(network(), max_memory={"openreg:0": 100, "cpu": 10**6})
