"""CIDEr-D as the reward of GRPO: a reward function in the shape that trainers such as TRL's GRPOTrainer call.

    python examples/python/grpo_reward.py

runs a tiny policy, a table of captions per image, for a few steps of GRPO on the quickstart's references, and shows
that the reward rises. Only numpy and capeval are needed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from capeval.reward import Reward, group_advantages

REFERENCES = Path(__file__).parents[1] / "quickstart" / "references.json"


class CaptionReward:
    """Called with completions and, column by column, the rest of the batch; gives a list of floats.

    In TRL: ``GRPOTrainer(model, reward_funcs=CaptionReward(refs), …)`` over a data set with a column ``image_id``.
    References are read once; each call costs what its captions cost, and releases the interpreter's lock.
    """

    __name__ = "caption_reward"

    def __init__(self, references: Any) -> None:
        # CIDEr-D goes to 10 and BLEU-4 to 1, so a mixture needs weights.
        self.reward = Reward(references, {"cider-d": 1.0, "bleu-4": 1.0})

    def __call__(self, completions: list[Any], image_id: list[Any], **_: Any) -> list[float]:
        texts = [c if isinstance(c, str) else c[-1]["content"] for c in completions]
        return self.reward(image_id, texts).tolist()


def results(name: str) -> list[dict[str, Any]]:
    """The captions of one of the quickstart's systems, which the policy may choose for any image."""
    rows: list[dict[str, Any]] = json.loads((REFERENCES.parent / f"{name}.json").read_text())
    return rows


def main(steps: int = 80, k: int = 8, rate: float = 1.0, seed: int = 0) -> tuple[float, float]:
    """Trains the tiny policy; the mean reward of the first and of the last step."""
    score = CaptionReward(REFERENCES)
    rng = np.random.default_rng(seed)
    images = score.reward.ids
    captions = sorted({row["caption"] for name in ("good", "weak") for row in results(name)})
    logits = np.zeros((len(images), len(captions)))
    history = []
    for _ in range(steps):
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        drawn = np.stack([rng.choice(len(captions), size=k, p=row) for row in odds])
        completions = [captions[choice] for choice in drawn.reshape(-1)]
        rewards = np.asarray(score(completions, image_id=np.repeat(images, k).tolist()))
        advantages = group_advantages(rewards, k).reshape(drawn.shape)
        for image, (choices, row) in enumerate(zip(drawn, advantages)):
            for choice, advantage in zip(choices, row):
                # The gradient of log softmax, for each sample, weighted by its advantage.
                logits[image] -= rate / k * advantage * odds[image]
                logits[image, choice] += rate / k * advantage
        history.append(float(rewards.mean()))
    print(f"mean reward: {history[0]:.3f} at first, {history[-1]:.3f} after {steps} steps")
    for image, row in zip(images, logits):
        print(f"  image {image}: {captions[int(row.argmax())]}")
    return history[0], history[-1]


if __name__ == "__main__":
    main()
