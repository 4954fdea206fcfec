"""GRPO of TRL with a mixture of caption metrics as the reward.

    python examples/training/trl_grpo.py

trains a language model of a few thousand random weights for some steps, on the CPU, with the quick start's references: its prompts
are numbers of images, since it sees no pictures.
"""

import json
import tempfile
from pathlib import Path

from datasets import Dataset
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast, set_seed
from trl import GRPOConfig, GRPOTrainer

from capeval.reward import Reward

REFERENCES = Path(__file__).parents[1] / "quickstart" / "references.json"


class CaptionReward:
    """Called with completions and, column by column, the rest of the batch; gives a list of numbers."""

    __name__ = "caption_reward"

    def __init__(self, references):
        # CIDEr-D goes to 10 and BLEU-1 to 1, so a mixture needs weights.
        self.reward = Reward(references, {"cider-d": 1.0, "bleu-1": 1.0})
        self.seen = []

    def __call__(self, completions, image_id, **_):
        found = self.reward(image_id, completions).tolist()
        self.seen.append(sum(found) / len(found))
        return found


def model_of(words):
    """A tiny model with a tokenizer of whole words."""
    vocabulary = {word: place for place, word in enumerate(["<pad>", "<eos>", "<unk>", *words])}
    inside = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inside.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inside, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>", padding_side="left")
    config = GPT2Config(vocab_size=len(vocabulary), n_positions=32, n_embd=32, n_layer=1, n_head=2, bos_token_id=1, eos_token_id=1, pad_token_id=0)
    return GPT2LMHeadModel(config), tokenizer


def main(steps=40):
    """Trains, and returns the mean reward of the first and of the last ten steps."""
    rows = json.loads(REFERENCES.read_text(encoding="utf-8"))["annotations"]
    images = sorted({row["image_id"] for row in rows})
    words = sorted({word for row in rows for word in row["caption"].lower().rstrip(".").split()})
    set_seed(0)
    model, tokenizer = model_of([*map(str, images), *words])
    reward = CaptionReward(REFERENCES)
    dataset = Dataset.from_dict({"prompt": list(map(str, images)), "image_id": images})
    with tempfile.TemporaryDirectory() as folder:
        options = GRPOConfig(
            output_dir=folder, use_cpu=True, bf16=False, per_device_train_batch_size=16, num_generations=8, max_completion_length=8,
            learning_rate=0.02, max_steps=steps, report_to="none", save_strategy="no", logging_steps=steps, seed=0, disable_tqdm=True,
        )  # fmt: skip
        trainer = GRPOTrainer(model, reward_funcs=reward, args=options, train_dataset=dataset, processing_class=tokenizer)
        trainer.train()
    return sum(reward.seen[:10]) / 10, sum(reward.seen[-10:]) / 10


if __name__ == "__main__":
    print("reward of the first and of the last steps: {:.3f}, {:.3f}".format(*main()))
