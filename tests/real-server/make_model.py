#!/usr/bin/env python3
"""Writes a Llama model with random weights: half a megabyte that a real inference server loads and serves.

    make_model.py OUT.gguf

It talks nonsense, and always the same. Its tokenizer works on bytes and merges frequent pairs of letters.
"""

import argparse
import itertools

import numpy
from gguf import GGUFWriter, TokenType

WIDTH = 64
LAYERS = 2
HEADS = 4
HIDDEN = 128
CONTEXT = 8192
FREQUENT = "etaoinshrdlu"
TEMPLATE = "{% for m in messages %}<{{ m['role'] }}> {{ m['content'] }}\n{% endfor %}<assistant> "


def byte_tokens() -> list[str]:
    """One printable character for each byte, as GPT-2 does it: those that are not printable move past 255."""
    printable = {*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = itertools.count(0x100)
    return [chr(byte if byte in printable else next(spare)) for byte in range(256)]


def write_tokenizer(writer: GGUFWriter) -> int:
    """Returns the size of the vocabulary."""
    blank = byte_tokens()[ord(" ")]
    pairs = [*itertools.product(FREQUENT, repeat=2), *((blank, letter) for letter in FREQUENT)]
    plain = byte_tokens() + [left + right for left, right in pairs]
    control = ["<begin>", "<end>"]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(plain + control)
    writer.add_token_types([TokenType.NORMAL] * len(plain) + [TokenType.CONTROL] * len(control))
    writer.add_token_merges([f"{left} {right}" for left, right in pairs])
    writer.add_bos_token_id(len(plain))
    writer.add_eos_token_id(len(plain) + 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    return len(plain) + len(control)


def shapes(vocabulary: int) -> dict[str, tuple[int, ...]]:
    """The tensors of the model. A vector is a norm."""
    tensors: dict[str, tuple[int, ...]] = {
        "token_embd": (vocabulary, WIDTH),
        "output": (vocabulary, WIDTH),
        "output_norm": (WIDTH,),
    }
    for layer in range(LAYERS):
        block = f"blk.{layer}."
        tensors |= {block + name: (WIDTH,) for name in ("attn_norm", "ffn_norm")}
        tensors |= {block + f"attn_{part}": (WIDTH, WIDTH) for part in ("q", "k", "v", "output")}
        tensors |= {block + name: (HIDDEN, WIDTH) for name in ("ffn_gate", "ffn_up")}
        tensors[block + "ffn_down"] = (WIDTH, HIDDEN)
    return tensors


def write_model(path: str) -> None:
    writer = GGUFWriter(path, "llama")
    vocabulary = write_tokenizer(writer)
    writer.add_name("tiny")
    writer.add_file_type(0)
    writer.add_vocab_size(vocabulary)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_layer_norm_rms_eps(1e-5)
    random = numpy.random.default_rng(seed=1)
    for name, shape in shapes(vocabulary).items():
        values = numpy.ones(shape) if len(shape) == 1 else 0.05 * random.standard_normal(shape)
        writer.add_tensor(f"{name}.weight", values.astype(numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out")
    write_model(parser.parse_args().out)
