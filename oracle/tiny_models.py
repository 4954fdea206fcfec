"""Make the tiny models in testdata/neural, with the values that transformers and tokenizers give of them.

    run.py tiny_models FOLDER

The weights are random, and the vocabularies are trained on the sentences below, so nothing here is anyone's model. Needs
torch, transformers and sentence-transformers. FOLDER is testdata/neural.
"""

import json
import re
import shutil
from pathlib import Path

import numpy as np
import tokenizers
import torch
import transformers
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from tokenizers import Regex

from shared import options

SENTENCES = """
a man rides a brown horse along the sandy beach at sunset
two small dogs are playing with a red ball in the garden
the children's kitchen has a white stove, a table and 3 chairs
people walk across the street while a bus waits at the traffic light
a photo depicts a bowl of fruit with bananas, oranges and apples
someone is holding an umbrella in the rain; it's getting late
a woman wearing glasses reads a newspaper on the train to work
several birds fly over the lake near the mountains in winter
""".strip().split("\n")

TEXTS = [
    "a man rides a horse",
    "A photo depicts two small dogs playing with a ball.",
    "",
    "   white   space\tand\nlines  ",
    "the children's kitchen, it's 1234 o'clock; we'll don't",
    "Zażółć gęślą jaźń, naïve café — Ünïcödé!!",
    "两只狗在草地上玩耍 and a ball",
    "emoji 🐶🐶 and signs #$%^&*()_+[]{}<>?/|~`",
    " ".join(["a very long caption about a man who rides a brown horse along the beach"] * 8),
    "<|endoftext|> inside </s> of [SEP] a text",
    "don't-stop e-mail x86_64 3.14 10,000",
    "caf&eacute; “quoted” ﬁre ＦＵＬＬ",
    "İstanbul ΣΊΣΥΦΟΣ straße ǅ",
    "a",
    "\u200b\u00ad\ufeff invisible \u0301 marks e\u0301",
]

WIDTH, LAYERS, HEADS, INNER = 32, 3, 2, 64


def spread(model: torch.nn.Module, seed: int) -> torch.nn.Module:
    """Random weights of a size at which every part of a model matters."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            is_norm = "norm" in name.lower() or "layrnorm" in name.lower()
            if is_norm and name.endswith("weight"):
                parameter.copy_(1 + 0.1 * torch.randn_like(parameter))
            elif parameter.dim() < 2:
                parameter.copy_(0.1 * torch.randn_like(parameter))
            else:
                parameter.copy_(0.25 * torch.randn_like(parameter))
    return model.eval()


def clip_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>", continuing_subword_prefix=""))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    pattern = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), behavior="removed", invert=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    # The letters of all bytes, also as the last of a word.
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: number for number, symbol in enumerate(alphabet + [letter + "</w>" for letter in alphabet])}
    merges: list[tuple[str, str]] = []
    words = " ".join(SENTENCES).replace(",", " ").replace(";", " ").replace("'", " ").split()
    for word in sorted(set(words), key=words.index)[:60]:
        symbols = [*word[:-1], word[-1] + "</w>"]
        while len(symbols) > 1:
            pair = (symbols[0], symbols[1])
            if pair not in merges:
                merges.append(pair)
                vocabulary.setdefault("".join(pair), len(vocabulary))
            symbols = ["".join(pair), *symbols[2:]]
    vocabulary["<|startoftext|>"] = len(vocabulary)
    vocabulary["<|endoftext|>"] = len(vocabulary)
    tokenizer.model = models.BPE(
        vocab=vocabulary, merges=merges, unk_token="<|endoftext|>", end_of_word_suffix="</w>", continuing_subword_prefix=""
    )
    tokenizer.add_special_tokens(["<|startoftext|>", "<|endoftext|>"])
    first, last = (tokenizer.token_to_id(token) for token in ("<|startoftext|>", "<|endoftext|>"))
    tokenizer.post_processor = processors.RobertaProcessing(
        sep=("<|endoftext|>", last), cls_token=("<|startoftext|>", first), trim_offsets=False, add_prefix_space=False
    )
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def roberta_tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=420,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    tokenizer.post_processor = processors.RobertaProcessing(sep=("</s>", 2), cls_token=("<s>", 0), add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def bert_tokenizer(lower_case: bool, first: str = "[CLS]", last: str = "[SEP]", unknown: str = "[UNK]") -> Tokenizer:
    tokenizer = Tokenizer(models.WordPiece(unk_token=unknown))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lower_case)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", unknown, first, last, "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=260, special_tokens=special, initial_alphabet=["é", "e", "两", "狗", "#", "$"], show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    ids = [(token, tokenizer.token_to_id(token)) for token in (last, first)]
    tokenizer.post_processor = processors.BertProcessing(*ids)
    return tokenizer


def pictures(size: int) -> np.ndarray:
    """Two squares with a rule for every byte, which tests compute again."""
    y, x, c = np.meshgrid(np.arange(size), np.arange(size), np.arange(3), indexing="ij")
    return np.stack([(x * 7 + y * 13 + c * 29) % 256, (x * y + 50 * c) % 256]).astype(np.uint8)


def digits(values: torch.Tensor) -> list[float]:
    return [float(f"{value:.7g}") for value in values.detach().float().flatten().tolist()]


def ids_of(tokenizer: Tokenizer, text: str, longest: int, last: int) -> list[int]:
    ids = tokenizer.encode(text).ids
    return ids if len(ids) <= longest else ids[: longest - 1] + [last]


def clip(folder: Path, act: str, seed: int, names: str = "hf") -> dict:
    tokenizer = clip_tokenizer()
    end = tokenizer.token_to_id("<|endoftext|>")
    size, patch = 32, 8
    text = {"vocab_size": end + 1, "max_position_embeddings": 77, "eos_token_id": end, "bos_token_id": end - 1}
    both = {"hidden_act": act, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER}
    config = transformers.CLIPConfig(
        text_config={**text, **both, "hidden_size": WIDTH, "projection_dim": 24},
        vision_config={**both, "hidden_size": 48, "image_size": size, "patch_size": patch, "projection_dim": 24},
        projection_dim=24,
    )
    model = spread(transformers.CLIPModel(config), seed)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "preprocessor_config.json").write_text(
        json.dumps(
            {
                "crop_size": size,
                "size": size,
                "resample": 3,
                "do_convert_rgb": True,
                "image_mean": [0.48145466, 0.4578275, 0.40821073],
                "image_std": [0.26862954, 0.26130258, 0.27577711],
            }
        )
    )
    mean, std = ([0.48145466, 0.4578275, 0.40821073], [0.26862954, 0.26130258, 0.27577711])
    pixels = torch.tensor(pictures(size)).permute(0, 3, 1, 2).float() / 255
    pixels = (pixels - torch.tensor(mean)[:, None, None]) / torch.tensor(std)[:, None, None]
    ids = [ids_of(tokenizer, text, 77, end) for text in TEXTS]
    with torch.no_grad():
        texts = [features(model.get_text_features(input_ids=torch.tensor([one]))) for one in ids]
        seen = features(model.get_image_features(pixel_values=pixels))
    return {"ids": ids, "texts": [digits(one) for one in texts], "pictures": [digits(one) for one in seen]}


def features(output):
    return output if isinstance(output, torch.Tensor) else output.pooler_output


def tokens(folder: Path, kind: str, seed: int, lower_case: bool = True) -> dict:
    common = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "intermediate_size": INNER}
    longest = 64
    if kind == "roberta":
        tokenizer = roberta_tokenizer()
        config = transformers.RobertaConfig(
            vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=longest + 2, type_vocab_size=1, **common
        )
        model, last = transformers.RobertaModel(config, add_pooling_layer=False), 2
    elif kind == "distilbert":
        tokenizer = bert_tokenizer(lower_case)
        config = transformers.DistilBertConfig(
            vocab_size=tokenizer.get_vocab_size(),
            max_position_embeddings=longest,
            dim=WIDTH,
            n_layers=LAYERS,
            n_heads=HEADS,
            hidden_dim=INNER,
        )
        model, last = transformers.DistilBertModel(config), tokenizer.token_to_id("[SEP]")
    elif kind == "mpnet":
        tokenizer = bert_tokenizer(lower_case, "<s>", "</s>", "<unk>")
        config = transformers.MPNetConfig(
            vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=longest + 2, **common
        )
        model, last = transformers.MPNetModel(config, add_pooling_layer=False), tokenizer.token_to_id("</s>")
    else:
        tokenizer = bert_tokenizer(lower_case)
        config = transformers.BertConfig(vocab_size=tokenizer.get_vocab_size(), max_position_embeddings=longest, **common)
        model, last = transformers.BertModel(config, add_pooling_layer=False), tokenizer.token_to_id("[SEP]")
    model = spread(model, seed)
    model.save_pretrained(folder)
    tokenizer.save(str(folder / "tokenizer.json"))
    found: dict = {"ids": [], "spaced": [], "layers": {"0": [], "2": [], "3": []}}
    for text in TEXTS:
        ids = ids_of(tokenizer, text.strip(), longest, last)
        found["ids"].append(ids)
        if kind == "roberta":
            found["spaced"].append(ids_of(tokenizer, " " + text.strip() if text.strip() else "", longest, last))
        with torch.no_grad():
            states = model(input_ids=torch.tensor([ids]), output_hidden_states=True).hidden_states
        for layer, kept in found["layers"].items():
            # Only the first and the last token are kept, and the mean of all.
            state = states[int(layer)][0]
            kept.append([digits(state[0]), digits(state[-1]), digits(state.mean(0))])
    return found


def detector(folder: Path, base: Path, seed: int) -> dict:
    """FENSE's detector of errors, as scripts/convert_weights.py saves it: six classes over the state of [CLS]."""
    torch.manual_seed(seed)
    weight, bias = torch.randn(6, WIDTH), torch.randn(6)
    encoder = transformers.BertModel.from_pretrained(base, add_pooling_layer=False).eval()
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    # Half precision, which is widened when it is read.
    weights = {f"encoder.{name}": tensor.half() for name, tensor in load_file(base / "model.safetensors").items()}
    encoder.load_state_dict({name.removeprefix("encoder."): tensor.float() for name, tensor in weights.items()})
    save_file(weights | {"clf.weight": weight.half(), "clf.bias": bias.half()}, folder / "model.safetensors", {"format": "pt"})
    for name in ("config.json", "tokenizer.json"):
        shutil.copyfile(base / name, folder / name)
    found = []
    for text in TEXTS:
        plain = re.sub(r"[^\w\s]", "", text).lower()
        ids = ids_of(tokenizer, plain, 64, tokenizer.token_to_id("[SEP]"))
        with torch.no_grad():
            state = encoder(input_ids=torch.tensor([ids])).last_hidden_state[:, 0]
            found.append(torch.sigmoid(state @ weight.half().float().T + bias.half().float())[0, -1].item())
    return {"errors": found}


def main(arguments):
    out = options(__doc__, ("folder", {"type": Path})).parse_args(arguments).folder
    torch.use_deterministic_algorithms(True)
    versions = {module.__name__: module.__version__ for module in (torch, transformers, tokenizers)}
    golden: dict = {"made by": "python oracle/run.py tiny_models testdata/neural", "versions": versions, "texts": TEXTS}
    makers = {
        "clip-quick": lambda folder: clip(folder, "quick_gelu", 1),
        "clip-gelu": lambda folder: clip(folder, "gelu", 2),
        "bert": lambda folder: tokens(folder, "bert", 3),
        "bert-cased": lambda folder: tokens(folder, "bert", 4, lower_case=False),
        "roberta": lambda folder: tokens(folder, "roberta", 5),
        "distilbert": lambda folder: tokens(folder, "distilbert", 6),
        "mpnet": lambda folder: tokens(folder, "mpnet", 7),
    }
    makers["detector"] = lambda folder: detector(folder, out / "bert", 8)
    golden["models"] = {}
    for name, make in makers.items():
        folder = out / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        golden["models"][name] = make(folder)
    (out / "golden.json").write_text(json.dumps(golden, ensure_ascii=True) + "\n")
