"""CIDEr-D and BLEU after each epoch of Lightning, over all processes.

    python examples/training/lightning_validation.py

trains a tiny captioner, a table of words for each image instead of a network, on the quick start's references.
"""

import json
from pathlib import Path

import lightning
import torch
from torch.utils.data import DataLoader

from capeval.streaming import CaptionMetric

REFERENCES = Path(__file__).parents[1] / "quickstart" / "references.json"
LENGTH = 12


def data():
    """The references of each image, and the words of all."""
    images = {}
    for row in json.loads(REFERENCES.read_text(encoding="utf-8"))["annotations"]:
        images.setdefault(row["image_id"], []).append(row["caption"].lower().rstrip("."))
    words = ["", *sorted({word for captions in images.values() for caption in captions for word in caption.split()})]
    return images, words


class Captioner(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.images, self.words = data()
        self.ids = list(self.images)
        self.scores = torch.nn.Parameter(torch.zeros(len(self.ids), LENGTH, len(self.words)))
        # A part of the model, so that Lightning moves it, resets it and gathers it.
        self.metric = CaptionMetric(["bleu", "cider-d"])

    def target(self, k):
        known = {word: place for place, word in enumerate(self.words)}
        caption = [known[word] for word in self.images[self.ids[k]][0].split()][:LENGTH]
        return torch.tensor(caption + [0] * (LENGTH - len(caption)))

    def training_step(self, batch, _):
        targets = torch.stack([self.target(k) for k in batch.tolist()])
        return torch.nn.functional.cross_entropy(self.scores[batch].flatten(0, 1), targets.flatten())

    def validation_step(self, batch, _):
        ids = [self.ids[k] for k in batch.tolist()]
        best = self.scores[batch].argmax(-1).tolist()
        captions = [" ".join(self.words[word] for word in row if word) for row in best]
        # With ids, images that a distributed sampler repeats count once.
        self.metric.update(captions, [self.images[id] for id in ids], image_ids=ids)

    def on_validation_epoch_end(self):
        self.log_dict({f"val/{key}": float(value) for key, value in self.metric.compute().items()})
        self.metric.reset()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.5)


def main():
    """Trains, and returns CIDEr-D before and after."""
    model = Captioner()
    loader = DataLoader(range(len(model.ids)), batch_size=4)
    trainer = lightning.Trainer(
        max_epochs=8, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False,
    )  # fmt: skip
    before = trainer.validate(model, loader, verbose=False)[0]["val/cider-d"]
    trainer.fit(model, loader, loader)
    after = trainer.validate(model, loader, verbose=False)[0]["val/cider-d"]
    return before, after


if __name__ == "__main__":
    print("CIDEr-D before and after: {:.3f}, {:.3f}".format(*main()))
