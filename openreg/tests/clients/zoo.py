# Small models of common architectures, with random weights; see
# docs/frontend/libraries.md.
"""Each function makes a model and a batch. Nothing in them is random after that."""

from collections.abc import Callable
from typing import Any

import torch
import transformers as hf

Batch = dict[str, Any]

MODELS: dict[str, Callable[[], tuple[torch.nn.Module, Batch]]] = {}

SIZE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4}
SIZE |= {"intermediate_size": 32}
NO_DROPOUT = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
TEXT = {"vocab_size": 50, "bos_token_id": 0, "eos_token_id": 49, "pad_token_id": 0}
DECODER = {**SIZE, **TEXT, "num_key_value_heads": 2, "max_position_embeddings": 32}
IMAGE = {"image_size": 32, "patch_size": 8}


def model(make: Callable[[], tuple[torch.nn.Module, Batch]]) -> Callable[[], Any]:
    MODELS[make.__name__] = make
    return make


def words() -> Batch:
    ids = torch.randint(1, 49, (4, 12))
    mask = torch.ones_like(ids)
    mask[0, 8:] = 0  # one sentence is shorter
    return {"input_ids": ids, "attention_mask": mask}


def next_words() -> Batch:
    batch = words()
    return {**batch, "labels": batch["input_ids"]}


def images() -> Batch:
    labels = torch.randint(2, (4,))
    return {"pixel_values": torch.randn(4, 3, 32, 32), "labels": labels}


@model
def bert():
    config = hf.BertConfig(vocab_size=50, **SIZE, **NO_DROPOUT)
    return hf.BertForMaskedLM(config), next_words()


@model
def roberta():
    sizes = {"vocab_size": 50, "max_position_embeddings": 40}
    config = hf.RobertaConfig(**sizes, **SIZE, **NO_DROPOUT)
    batch = {**words(), "labels": torch.randint(2, (4,))}
    return hf.RobertaForSequenceClassification(config), batch


@model
def gpt2():
    no_dropout = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    sizes = {"n_positions": 32, "n_embd": 16, "n_layer": 2, "n_head": 4}
    config = hf.GPT2Config(**sizes, **TEXT, **no_dropout)
    return hf.GPT2LMHeadModel(config), next_words()


@model
def t5():
    sizes = {"d_model": 16, "d_kv": 4, "d_ff": 32, "num_layers": 2, "num_heads": 4}
    start = {"vocab_size": 50, "decoder_start_token_id": 0}
    config = hf.T5Config(**sizes, **start, dropout_rate=0.0)
    return hf.T5ForConditionalGeneration(config), next_words()


@model
def llama():
    return hf.LlamaForCausalLM(hf.LlamaConfig(**DECODER)), next_words()


@model
def mixtral():
    experts = {"num_local_experts": 4, "output_router_logits": True}
    return hf.MixtralForCausalLM(hf.MixtralConfig(**DECODER, **experts)), next_words()


@model
def qwen2():
    return hf.Qwen2ForCausalLM(hf.Qwen2Config(**DECODER)), next_words()


@model
def gemma2():
    config = hf.Gemma2Config(**DECODER, head_dim=4, sliding_window=8)
    return hf.Gemma2ForCausalLM(config), next_words()


@model
def mamba():
    sizes = {"hidden_size": 16, "state_size": 4, "num_hidden_layers": 2}
    batch = next_words()
    del batch["attention_mask"]
    return hf.MambaForCausalLM(hf.MambaConfig(**sizes, **TEXT)), batch


@model
def vit():
    config = hf.ViTConfig(**IMAGE, **SIZE, **NO_DROPOUT)
    return hf.ViTForImageClassification(config), images()


@model
def resnet():
    sizes = {"embedding_size": 8, "hidden_sizes": [8, 16], "depths": [1, 1]}
    config = hf.ResNetConfig(**sizes, layer_type="basic")
    return hf.ResNetForImageClassification(config), images()


@model
def swin():
    sizes = {"embed_dim": 8, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}
    image = {"image_size": 32, "patch_size": 4}
    config = hf.SwinConfig(**image, **sizes, **NO_DROPOUT, drop_path_rate=0.0)
    return hf.SwinForImageClassification(config), images()


@model
def convnext():
    config = hf.ConvNextConfig(hidden_sizes=[8, 16], depths=[1, 1], num_stages=2)
    return hf.ConvNextForImageClassification(config), images()


@model
def whisper():
    half = {"layers": 2, "attention_heads": 4, "ffn_dim": 32}
    sizes = {
        f"{side}_{name}": size
        for side in ("encoder", "decoder")
        for name, size in half.items()
    }
    lengths = {"max_source_positions": 16, "max_target_positions": 16}
    start = {**TEXT, "decoder_start_token_id": 1, "dropout": 0.0}
    config = hf.WhisperConfig(d_model=16, num_mel_bins=8, **sizes, **lengths, **start)
    labels = torch.randint(1, 49, (4, 12))
    batch = {"input_features": torch.randn(4, 8, 32), "labels": labels}
    return hf.WhisperForConditionalGeneration(config), batch


@model
def wav2vec2():
    layers = ("hidden", "attention", "activation", "feat_proj", "final")
    no_dropout = {f"{layer}_dropout": 0.0 for layer in layers}
    no_dropout |= {"layerdrop": 0.0, "mask_time_prob": 0.0}
    convolution = {
        "conv_dim": (8, 8),
        "conv_stride": (4, 2),
        "conv_kernel": (8, 3),
        "num_feat_extract_layers": 2,
        "num_conv_pos_embeddings": 4,
        "num_conv_pos_embedding_groups": 2,
    }
    loss = {"vocab_size": 20, "ctc_loss_reduction": "mean"}
    config = hf.Wav2Vec2Config(**SIZE, **convolution, **no_dropout, **loss)
    labels = torch.randint(1, 19, (4, 6))
    batch = {"input_values": torch.randn(4, 400), "labels": labels}
    return hf.Wav2Vec2ForCTC(config), batch


@model
def clip():
    text = {**SIZE, **TEXT, "max_position_embeddings": 16}
    vision = {**SIZE, **IMAGE}
    config = hf.CLIPConfig(text_config=text, vision_config=vision, projection_dim=8)
    pixels = torch.randn(4, 3, 32, 32)
    return hf.CLIPModel(config), {**words(), "pixel_values": pixels, "return_loss": 1}


@model
def segformer():
    sizes = {
        "num_encoder_blocks": 2,
        "depths": [1, 1],
        "sr_ratios": [2, 1],
        "hidden_sizes": [8, 16],
        "patch_sizes": [7, 3],
        "strides": [4, 2],
        "num_attention_heads": [1, 2],
        "mlp_ratios": [2, 2],
        "decoder_hidden_size": 16,
    }
    no_dropout = {"classifier_dropout_prob": 0.0, "drop_path_rate": 0.0, **NO_DROPOUT}
    config = hf.SegformerConfig(**sizes, **no_dropout, num_labels=3)
    labels = torch.randint(3, (4, 32, 32))
    batch = {"pixel_values": torch.randn(4, 3, 32, 32), "labels": labels}
    return hf.SegformerForSemanticSegmentation(config), batch
