# Training with ignite on the device; see docs/frontend/libraries.md.
import torch
from ignite.engine import (
    Events,
    create_supervised_evaluator,
    create_supervised_trainer,
)
from ignite.handlers import Checkpoint, DiskSaver
from ignite.metrics import Accuracy, Loss
from torch import nn
from torch.testing import assert_close
from torch.utils.data import DataLoader, TensorDataset


# LITERALINCLUDE START: TRAIN_IGNITE
def train(device, folder):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3)).to(device)
    loader = DataLoader(
        TensorDataset(torch.randn(12, 6), torch.randint(3, (12,))), batch_size=4
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    trainer = create_supervised_trainer(
        model, optimizer, criterion, device=device, non_blocking=True
    )
    metrics = {
        "accuracy": Accuracy(device=device),
        "loss": Loss(criterion, device=device),
    }
    evaluator = create_supervised_evaluator(model, metrics=metrics, device=device)
    losses = []
    trainer.add_event_handler(
        Events.ITERATION_COMPLETED, lambda engine: losses.append(engine.state.output)
    )
    saver = Checkpoint({"model": model, "optimizer": optimizer}, DiskSaver(folder))
    trainer.add_event_handler(Events.COMPLETED, saver)
    trainer.run(loader, max_epochs=2)
    evaluator.run(loader)
    return losses, evaluator.state.metrics, model
    # LITERALINCLUDE END: TRAIN_IGNITE


def test_training(tmp_path):
    device = torch.accelerator.current_accelerator()
    losses, metrics, model = train(device, tmp_path / "device")
    expected, metrics_of_cpu, _ = train(torch.device("cpu"), tmp_path / "cpu")
    assert losses[-1] < losses[0]
    assert_close(losses, expected, rtol=1e-5, atol=1e-5)
    assert_close(metrics, metrics_of_cpu, rtol=1e-5, atol=1e-5)
    (file,) = (tmp_path / "device").iterdir()
    saved = torch.load(file)
    weight = saved["model"]["0.weight"]
    assert weight.device.type == device.type
    assert_close(weight, model[0].weight.detach())
