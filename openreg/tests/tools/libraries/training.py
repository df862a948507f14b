# Libraries that train; see docs/frontend/training-libraries.md.
"""Each check imports its library itself, as not every environment has all of them."""

import importlib
import os
import tempfile
from typing import Any

import torch
from libraries.check import accelerate_device, check, on_device, same
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCELERATE = "`ACCELERATE_TORCH_DEVICE=openreg`"


def network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 3))


def batches() -> DataLoader[tuple[torch.Tensor, ...]]:
    torch.manual_seed(1)
    data = TensorDataset(torch.randn(12, 6), torch.randint(3, (12,)))
    return DataLoader(data, batch_size=4)


# -- Lightning --


def fit(**options: Any) -> tuple[Any, torch.Tensor]:
    """Train with a Trainer; return the module, and its losses on the host."""
    lightning = importlib.import_module("lightning")

    class Module(lightning.LightningModule):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.net, self.losses = network(), []

        def training_step(self, batch: Any, index: int) -> torch.Tensor:
            loss = nn.functional.cross_entropy(self.net(batch[0]), batch[1])
            self.losses.append(loss.detach())
            return loss

        def configure_optimizers(self) -> torch.optim.Optimizer:
            return torch.optim.Adam(self.parameters(), lr=0.01)

        def on_train_end(self) -> None:  # afterwards Lightning moves it to the host
            self.trained_on = self.net[0].weight.device

    quiet = ["logger", "enable_checkpointing", "enable_progress_bar"]
    quiet.append("enable_model_summary")
    trainer = lightning.Trainer(max_epochs=2, **dict.fromkeys(quiet, False), **options)
    module = Module()
    trainer.fit(module, batches())
    return module, torch.stack(module.losses).cpu()


@check("lightning", 'Trainer(accelerator="auto", devices=1)')
def lightning_auto() -> None:
    on_device(fit(accelerator="auto", devices=1)[0].trained_on)


@check("lightning", 'Trainer(accelerator="gpu", devices=1)')
def lightning_gpu() -> None:
    fit(accelerator="gpu", devices=1)


LIGHTNING = "[plug-in](../frontend/training-libraries.md#lightning)"


@check("lightning", "Trainer(accelerator=DeviceAccelerator())", LIGHTNING)
def lightning_accelerator() -> None:
    plugin = importlib.import_module("lightning_device")
    fit(accelerator=plugin.DeviceAccelerator(), devices=1)


def lightning_fit(device: str, **options: Any) -> torch.Tensor:
    plugin = importlib.import_module("lightning_device")
    if device == "cpu":
        return fit(accelerator="cpu", **options)[1]
    module, losses = fit(strategy=plugin.single_device(), **options)
    on_device(module.trained_on)
    return losses


@check("lightning", "Trainer(strategy=single_device())", LIGHTNING)
def lightning_strategy() -> None:
    same(lightning_fit)


@check("lightning", 'the same with `precision="bf16-mixed"`', LIGHTNING)
def lightning_mixed() -> None:
    torch.testing.assert_close(
        lightning_fit("openreg", precision="bf16-mixed"),
        lightning_fit("cpu"),
        rtol=0.02,
        atol=0.02,
    )


@check("torchmetrics", "an accuracy, moved with `to`")
def torchmetrics_accuracy() -> None:
    metrics = importlib.import_module("torchmetrics.classification")

    def compute(device: str) -> torch.Tensor:
        torch.manual_seed(0)
        metric = metrics.MulticlassAccuracy(3).to(device)
        metric.update(torch.randn(8, 3).to(device), torch.randint(3, (8,)).to(device))
        result: torch.Tensor = metric.compute()
        return result.cpu()

    same(compute)


# -- accelerate --


def accelerate_losses(device: str) -> torch.Tensor:
    accelerate = importlib.import_module("accelerate")
    with accelerate_device(device if device != "cpu" else None):
        accelerator = accelerate.Accelerator()
        model = network()
        parts = (model, torch.optim.Adam(model.parameters(), lr=0.01), batches())
        model, optimizer, loader = accelerator.prepare(*parts)
        losses = []
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach().cpu())
    if device != "cpu":
        on_device(loss)
    return torch.stack(losses)


@check("accelerate", "`Accelerator()`")
def accelerate_plain() -> None:
    accelerate = importlib.import_module("accelerate")
    with accelerate_device(None):
        on_device(accelerate.Accelerator().device)


@check("accelerate", "`Accelerator()`", ACCELERATE)
def accelerate_variable() -> None:
    same(accelerate_losses)


# -- DeepSpeed --


def deepspeed_losses(stage: int) -> torch.Tensor:
    deepspeed = importlib.import_module("deepspeed")
    single = {"MASTER_ADDR": "localhost", "MASTER_PORT": "0", "RANK": "0"}
    os.environ.update(single, WORLD_SIZE="1", LOCAL_RANK="0")
    model = network()
    engine, *_ = deepspeed.initialize(
        model=model,
        optimizer=torch.optim.Adam(model.parameters(), lr=0.01),
        config={
            "train_batch_size": 4,
            "zero_optimization": {"stage": stage},
            "zero_allow_untested_optimizer": True,
        },
    )
    losses = []
    for x, y in batches():
        x, y = x.to(engine.device), y.to(engine.device)
        loss = nn.functional.cross_entropy(engine(x), y)
        engine.backward(loss)
        engine.step()
        losses.append(loss.detach())
    on_device(loss, engine)
    return torch.stack(losses).cpu()


def plain_losses() -> torch.Tensor:
    model, losses = network(), []
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for x, y in batches():
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
    return torch.stack(losses)


@check("deepspeed", "`get_accelerator()`")
def deepspeed_found() -> None:
    accelerator = importlib.import_module("deepspeed.accelerator").get_accelerator()
    on_device(accelerator.device_name())


DEEPSPEED = "[plug-in](../frontend/training-libraries.md#deepspeed)"


@check("deepspeed", "`initialize`, without ZeRO and in its stages 1 to 3", DEEPSPEED)
def deepspeed_stages() -> None:
    accelerator = importlib.import_module("deepspeed.accelerator")
    plugin = importlib.import_module("deepspeed_device")
    accelerator.set_accelerator(plugin.DeviceAccelerator())
    for stage in range(4):
        torch.testing.assert_close(
            deepspeed_losses(stage), plain_losses(), rtol=1e-3, atol=1e-3
        )


# -- Trainer of TRL --


def sft_losses(device: str) -> list[float]:
    trl, datasets = (importlib.import_module(name) for name in ("trl", "datasets"))
    models = importlib.import_module("libraries.models")
    texts = ["a b c d e f", "c d e f g h", "e f g h i j", "h i j k l m"]
    with accelerate_device(device if device != "cpu" else None):
        trainer = trl.SFTTrainer(
            models.llama(),
            args=trl.SFTConfig(
                tempfile.mkdtemp(),
                max_steps=3,
                per_device_train_batch_size=2,
                logging_steps=1,
                report_to=[],
                bf16=False,
                save_strategy="no",
            ),
            train_dataset=datasets.Dataset.from_dict({"text": texts}),
            processing_class=models.word_tokenizer(),
        )
        trainer.train()
        if device != "cpu":
            on_device(trainer.model)
    return [it["loss"] for it in trainer.state.log_history if "loss" in it]


@check("trl", "`SFTTrainer`", ACCELERATE)
def trl_sft() -> None:
    same(sft_losses)
