"""Self-critical training with CIDEr-D, under Hugging Face's Accelerate.

    accelerate launch examples/training/accelerate_scst.py

trains a tiny captioner, a table of words for each image instead of a network, on the quick start's references.
"""

import json
from pathlib import Path

import torch
from accelerate import Accelerator

from capeval.reward import CiderD, self_critical

REFERENCES = Path(__file__).parents[1] / "quickstart" / "references.json"
LENGTH = 8


class Captioner(torch.nn.Module):
    """The scores of each word at each place of the caption of an image."""

    def __init__(self, n_images, n_words):
        super().__init__()
        self.scores = torch.nn.Parameter(torch.zeros(n_images, LENGTH, n_words))

    def forward(self, images):
        return self.scores[images].log_softmax(-1)


def main(steps=150, k=16, seed=0):
    """Trains, and returns the reward of greedy captions before and after."""
    torch.manual_seed(seed)
    # References are read, counted and weighted once.
    reward = CiderD(REFERENCES)
    rows = json.loads(REFERENCES.read_text(encoding="utf-8"))["annotations"]
    words = sorted({word for row in rows for word in row["caption"].lower().rstrip(".").split()})
    ids = reward.ids
    accelerator = Accelerator(cpu=True)
    model = Captioner(len(ids), len(words))
    model, optimizer = accelerator.prepare(model, torch.optim.Adam(model.parameters(), lr=0.3))
    images = torch.arange(len(ids))

    def rewards(captions, of):
        return reward.score(of, [" ".join(words[word] for word in caption) for caption in captions.tolist()])

    before = float(rewards(model(images).argmax(-1), ids).mean())
    for _ in range(steps):
        log_probabilities = model(images)
        greedy = log_probabilities.argmax(-1)
        samples = torch.distributions.Categorical(logits=log_probabilities).sample((k,)).transpose(0, 1).flatten(0, 1)
        repeated = [id for id in ids for _ in range(k)]
        advantages = self_critical(rewards(samples, repeated), rewards(greedy, ids))
        chosen = log_probabilities.repeat_interleave(k, 0).gather(-1, samples.unsqueeze(-1)).squeeze(-1).sum(-1)
        loss = -(torch.as_tensor(advantages, dtype=chosen.dtype) * chosen).mean()
        optimizer.zero_grad()
        accelerator.backward(loss)
        optimizer.step()
    return before, float(rewards(model(images).argmax(-1), ids).mean())


if __name__ == "__main__":
    print("CIDEr-D before and after: {:.3f}, {:.3f}".format(*main()))
