"""Times capeval's encoders beside torch, on one core or more, with random weights of real size, in the same run.

    pip install torch transformers safetensors
    cargo build --release -p capeval-neural --example neural
    python scripts/neural_speed.py target/release/examples/neural CLIP_FOLDER TEXTS.jsonl [THREADS]

CLIP_FOLDER is that of scripts/clip_oracle.py. roberta-large is made beside it, with another tokenizer's ids.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import torch
import transformers


def best(work, times: int = 3) -> float:
    work()
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def ours(program: str, folder: Path, what: str, n: int, threads: int, texts: list[str] = ()) -> float:
    given = "\n".join(json.dumps(text) for text in texts) + "\n"
    run = lambda: float(  # noqa: E731
        subprocess.run(
            [program, folder, what, str(n)],
            input=given,
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | {"RAYON_NUM_THREADS": str(threads)},
        ).stdout
    )
    return min(run() for _ in range(3))


def main(program: str, folder: Path, texts: Path, threads: int) -> None:
    torch.set_num_threads(threads)
    captions = [json.loads(line) for line in texts.read_text().splitlines()[::500]][:256]
    torch.manual_seed(1)
    config = transformers.CLIPConfig(
        text_config={"hidden_size": 512, "projection_dim": 512}, vision_config={"projection_dim": 512}, projection_dim=512
    )
    model = transformers.CLIPModel(config).eval()
    out = subprocess.run([program, folder, "ids"], input="\n".join(map(json.dumps, captions)) + "\n", capture_output=True, text=True, check=True)
    ids = [json.loads(line) for line in out.stdout.splitlines()]
    print(f"{threads} threads, {len(ids)} texts of {sum(map(len, ids)) / len(ids):.1f} tokens on average, at most {max(map(len, ids))}")

    def padded(length: int):
        rows = torch.full((len(ids), length), 49407)
        for row, one in zip(rows, ids):
            row[: len(one)] = torch.tensor(one)
        return rows

    with torch.no_grad():
        found = ours(program, folder, "texts", 1, threads, captions)
        for length, name in [(77, "padded to 77"), (max(map(len, ids)), "padded to the longest")]:
            batches = padded(length).split(64)
            torch_time = best(lambda: [model.get_text_features(input_ids=batch) for batch in batches])
            print(f"CLIP texts, torch {name}: {1e3 * torch_time / len(ids):.2f} ms a text, ours {1e3 * found / len(ids):.2f}: {torch_time / found:.2f} times")
        n = 64
        pixels = torch.randn(n, 3, 224, 224)
        torch_time = best(lambda: [model.get_image_features(pixel_values=batch) for batch in pixels.split(16)])
        found = ours(program, folder, "pictures", n, threads)
        print(f"CLIP pictures: torch {1e3 * torch_time / n:.1f} ms a picture, ours {1e3 * found / n:.1f}: {torch_time / found:.2f} times")
        del model
        base = Path(__file__).parent.parent / "testdata" / "neural" / "roberta"
        large = folder.parent / "roberta-large-random"
        if not (large / "model.safetensors").is_file():
            config = transformers.RobertaConfig(
                vocab_size=50265, hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096,
                max_position_embeddings=514, type_vocab_size=1,
            )
            transformers.RobertaModel(config, add_pooling_layer=False).save_pretrained(large)
            (large / "tokenizer.json").write_text((base / "tokenizer.json").read_text())
        # Short captions, as the tiny vocabulary cuts words into many pieces.
        some = [" ".join(caption.split()[:5]) for caption in captions[:64]]
        out = subprocess.run([program, large, "ids"], input="\n".join(map(json.dumps, some)) + "\n", capture_output=True, text=True, check=True)
        ids = [json.loads(line) for line in out.stdout.splitlines()]
        roberta = transformers.RobertaModel.from_pretrained(large, add_pooling_layer=False).eval()
        roberta.encoder.layer = roberta.encoder.layer[:17]
        longest = max(map(len, ids))
        rows, mask = torch.ones(len(ids), longest, dtype=torch.long), torch.zeros(len(ids), longest, dtype=torch.long)
        for row, seen, one in zip(rows, mask, ids):
            row[: len(one)], seen[: len(one)] = torch.tensor(one), 1
        torch_time = best(lambda: roberta(input_ids=rows, attention_mask=mask))
        found = ours(program, large, "tokens", 17, threads, some)
        mean = sum(map(len, ids)) / len(ids)
        print(f"RoBERTa-large to layer 17, {mean:.1f} tokens of at most {longest}: torch {1e3 * torch_time / len(ids):.1f} ms a text, ours {1e3 * found / len(ids):.1f}: {torch_time / found:.2f} times")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1)
