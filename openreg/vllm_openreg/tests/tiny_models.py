# Makes small models with random weights, and a tokenizer; see docs/frontend/serving.md.
"""Nothing is downloaded: python tiny_models.py FOLDER writes llama, mistral and opt."""

import sys
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    OPTConfig,
    OPTForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

TEXT = "the device runs the model and the host waits for the result"
PROMPTS = ["the device runs", "the host waits for the result and the model", "a"]
WINDOW = 24  # of the Mistral: less than the prompts, more than a block of 16 tokens


def write_tokenizer(folder: Path) -> int:
    """Train a tokenizer on one sentence; return how many tokens it has."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=320,
        special_tokens=["<s>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    tokenizer.train_from_iterator([TEXT] * 4, trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        unk_token="<unk>",
        pad_token="</s>",
    )
    fast.save_pretrained(folder)
    return int(tokenizer.get_vocab_size())


def model(name: str, tokens: int) -> PreTrainedModel:
    """Return one model; the wide initial weights make clear which token is best."""
    common = {
        "vocab_size": tokens,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 256,
        "bos_token_id": 0,
        "eos_token_id": 1,
    }
    if name == "opt":
        wide = {"ffn_dim": 128, "word_embed_proj_dim": 64, "init_std": 0.2}
        return OPTForCausalLM(OPTConfig(**common, **wide, pad_token_id=1))
    grouped = {"intermediate_size": 128, "num_key_value_heads": 2}
    grouped |= {"initializer_range": 0.2, "tie_word_embeddings": False}
    if name == "mistral":
        config = MistralConfig(**common, **grouped, sliding_window=WINDOW)
        return MistralForCausalLM(config)
    return LlamaForCausalLM(LlamaConfig(**common, **grouped))


def write_models(root: Path) -> None:
    """Write all models below a folder."""
    for name in ("llama", "mistral", "opt"):
        folder = root / name
        tokens = write_tokenizer(folder)
        torch.manual_seed(0)
        model(name, tokens).save_pretrained(folder)


if __name__ == "__main__":
    write_models(Path(sys.argv[1]))
