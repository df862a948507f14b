# Models of the transformers library on the device; see docs/frontend/libraries.md.
import pytest
import torch
import transformers
from torch.testing import assert_close
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    CompileConfig,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    Trainer,
    TrainingArguments,
    ViTConfig,
    ViTForImageClassification,
)

SIZE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
SIZE |= {"intermediate_size": 32}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
TEXT = {"vocab_size": 50, "bos_token_id": 0, "eos_token_id": 49, "pad_token_id": 0}


def bert():
    config = BertConfig(vocab_size=50, **SIZE, **NO_DROPOUT)
    return BertForSequenceClassification(config)


def gpt2():
    no_dropout = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    config = GPT2Config(n_positions=32, n_embd=16, n_layer=2, n_head=4, **TEXT)
    config.update(no_dropout)
    return GPT2LMHeadModel(config)


def llama():
    config = LlamaConfig(
        **SIZE, **TEXT, num_key_value_heads=2, max_position_embeddings=32
    )
    return LlamaForCausalLM(config)


def vit():
    config = ViTConfig(image_size=16, patch_size=4, **SIZE, **NO_DROPOUT)
    return ViTForImageClassification(config)


def build(make):
    torch.manual_seed(0)
    return make()


def words_of(make):
    torch.manual_seed(1)
    if make is vit:
        images = torch.randn(4, 3, 16, 16)
        return {"pixel_values": images, "labels": torch.randint(2, (4,))}
    words = torch.randint(1, 49, (4, 12))
    mask = torch.ones_like(words)
    mask[0, 8:] = 0
    labels = torch.randint(2, (4,)) if make is bert else words
    return {"input_ids": words, "attention_mask": mask, "labels": labels}


# LITERALINCLUDE START: TRAIN_TRANSFORMER
def train(model, batch, device):
    model.to(device)
    batch = {name: value.to(device) for name, value in batch.items()}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu()


@pytest.mark.parametrize("make", [bert, gpt2, llama, vit])
def test_a_model_learns_as_on_the_cpu(make):
    model, on_cpu = build(make), build(make)
    with torch.openreg.fallbacks() as counts:
        losses = train(model, words_of(make), torch.accelerator.current_accelerator())
    expected = train(on_cpu, words_of(make), "cpu")
    assert losses[-1] < losses[0]
    assert_close(losses, expected)
    assert_close(parameters(model), parameters(on_cpu), rtol=1e-4, atol=1e-4)
    assert not counts  # every operator has a kernel of the device
    # LITERALINCLUDE END: TRAIN_TRANSFORMER


def parameters(model):
    return {name: value.detach().cpu() for name, value in model.named_parameters()}


@pytest.mark.parametrize("make", [gpt2, llama])
@pytest.mark.parametrize("how", [{}, {"num_beams": 3}])
def test_a_model_writes_the_words_of_the_cpu(make, how):
    device = torch.accelerator.current_accelerator()
    words = words_of(make)["input_ids"][:1, :4]
    options = {"max_new_tokens": 8, "do_sample": False, **how}
    model = build(make)
    expected = model.generate(words, **options)
    actual = model.to(device).generate(words.to(device), **options)
    assert actual.device.type == device.type
    assert_close(actual.cpu(), expected)


def graphs_of_the_compiler():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"]


@pytest.mark.parametrize("make", [gpt2, llama])
def test_a_compiled_model_with_a_static_cache_writes_the_same_words(make, inductor):
    device = torch.accelerator.current_accelerator()
    words = words_of(make)["input_ids"][:1, :4]
    options = {"max_new_tokens": 8, "do_sample": False}
    model = build(make)
    expected = model.generate(words, **options)
    model, words = model.to(device), words.to(device)
    options["cache_implementation"] = "static"
    torch._dynamo.utils.counters.clear()
    assert_close(model.generate(words, **options).cpu(), expected)
    assert graphs_of_the_compiler() == 0  # transformers did not compile
    # LITERALINCLUDE START: GENERATE_COMPILED
    compile_config = CompileConfig(fullgraph=True)
    compile_config._compile_all_devices = True
    tokens = model.generate(words, compile_config=compile_config, **options)
    # LITERALINCLUDE END: GENERATE_COMPILED
    assert graphs_of_the_compiler() > 0
    assert_close(tokens.cpu(), expected)


def test_a_model_comes_back_from_a_file(tmp_path):
    device = torch.accelerator.current_accelerator()
    model = build(bert).to(device)
    model.save_pretrained(tmp_path)
    onto_device = {"": str(device)}
    loaded = BertForSequenceClassification.from_pretrained(
        tmp_path, device_map=onto_device
    )
    assert {value.device.type for value in loaded.parameters()} == {device.type}
    assert_close(parameters(loaded), parameters(model))


def test_an_automatic_device_map_takes_the_cpu(tmp_path):
    build(bert).save_pretrained(tmp_path)
    loaded = BertForSequenceClassification.from_pretrained(tmp_path, device_map="auto")
    assert {value.device.type for value in loaded.parameters()} == {"cpu"}


def run_trainer(folder, **options):
    """The losses that transformers' own loop logs, and the trainer after it."""
    transformers.set_seed(0)
    data = [
        {"input_ids": torch.randint(1, 49, (12,)), "labels": torch.tensor(i % 2)}
        for i in range(16)
    ]
    arguments = TrainingArguments(
        str(folder),
        per_device_train_batch_size=4,
        num_train_epochs=2,
        logging_steps=1,
        save_steps=4,
        report_to=[],
        disable_tqdm=True,
        **options,
    )
    trainer = Trainer(bert(), arguments, train_dataset=data)
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert len(losses) == 8
    return losses, trainer


def test_the_trainer(use_accelerator, tmp_path):
    losses, trainer = run_trainer(tmp_path)
    device = torch.accelerator.current_accelerator()
    assert trainer.args.device.type == device.type
    trained = parameters(trainer.model)
    trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-4"))
    assert_close(parameters(trainer.model), trained)

    use_accelerator(False)
    expected, on_cpu = run_trainer(tmp_path / "cpu", use_cpu=True)
    assert_close(losses, expected, rtol=1e-4, atol=1e-5)
    assert_close(trained, parameters(on_cpu.model), rtol=1e-4, atol=1e-4)
