"""Run the programs of CLAIR and FLEUR on answers, and write what they read from them to testdata/judges.

    run.py judges CLAIR FLEUR FOLDER

CLAIR and FLEUR are clones of DavidMChan/clair and Yebin46/FLEUR, FOLDER is testdata/judges. Needs torch, scipy, tqdm, pillow
and numpy. The programs themselves run; what they import to reach a model is replaced by something that gives the answers below. No one
grades anything here: the answers are written by hand, mended, cut and mixed at random, as models write them and as they
never should.
"""

import io
import json
import logging
import math
import os
import random
import sys
import tempfile
import types
from contextlib import redirect_stdout
from pathlib import Path

from shared import commit, module as load, options

SEED = 20_261_127

USUAL = [
    '{"score": 85, "reason": "Both mention a dog on a beach."}',
    '{"score": 0.85, "reason": "alike"}',
    '{\n  "score": 72.5,\n  "reason": "The candidate misses the ball."\n}',
    'Sure! Here is my answer:\n```json\n{"score": 40, "reason": "Only the place agrees."}\n```',
    "Score: 90\nReason: the captions agree.",
    "I would say 75 out of 100. Reason: close, but not the same.",
    "0.9",
    "85%",
    "10/10",
    "The score is .5, reason: half of it.",
    '{"reason": "no score here"}',
    '{"score": "85"}',
    '{"score": "85/100", "reason": "text"}',
    '{"score": null, "reason": "nothing"}',
    '{"score": true}',
    '{"score": [85]}',
    '{"score": 85, "score": 15}',
    '{"score": 85, "reason": "uses a } brace"}',
    '{"score": 85, "reason": "uses a { brace"}',
    '{"score": 85, "reason": "no end',
    '{"score": 85,}',
    "{'score': 85}",
    "{score: 85}",
    '{"Score": 85, "Reason": "capital"}',
    '{"result": {"score": 85}}',
    "{} 12",
    "{{85}}",
    "I cannot help with that.",
    "",
    "   ",
    "{",
    "}",
    '{"score": 250}',
    '{"score": -5}',
    '{"score": 1e2}',
    '{"score": 1e999}',
    '{"score": NaN}',
    '{"score": -Infinity}',
    '{"score": 01}',
    '{"score": 1.}',
    '{"score": .5}',
    '{"score": +5}',
    '{"score": 8_5}',
    '{"score": "8_5"}',
    '{"score": " 85 "}',
    '{"score": "nan"}',
    '{"score": "inf"}',
    '{"score": "1e2"}',
    '{"score": "٨٥"}',
    '{"score": "８５"}',
    '{"score": ""}',
    "score ٨٥ of ١٠٠",
    "score ８.５",
    "Reason first: it is bad. Score: 3",
    "reaſon: old letters, 55",
    "REASON::: many: colons: 5",
    "5\nreason\n: next line",
    "100000000000000000000000000000000000000000",
    '{"score": ' + "9" * 400 + "}",
    '{"score": 85, "reason": "a\ttab"}',
    '{"score": 85, "reason": "a\\u0000b"}',
    '{"score": 85, "reason": "\\ud83d\\ude00 and \\ud83d alone"}',
    '{"score": 85, "reason": "\\x41"}',
    '{"score": 85, "reason": 5}',
    '{"score": 85} {"score": 10}',
    '{"a": 1} {"score": 10}',
    '\ufeff{"score": 85}',
    '{"score"\u00a0: 85}',
    '{"score": 85}\u2028reason',
    '{"score": 85, "reason": ["list", 1, null, true, [-1.5e-3]]}',
    '[{"score": 33}]',
    '"{\\"score\\": 85}"',
    "<think>maybe 20</think>{\"score\": 85}",
    "1,000",
    "-3",
    "3.4.5",
    "...5",
    "5.",
    "Reason: none. Score: none.",
    "\x1creason\x1f 7 \x1c",
]


def hostile(rng: random.Random, n: int) -> list[str]:
    """Answers that are cut, mended and mixed."""
    pieces = list('{}[]":,.0123456789 \n\t\\') + ["score", "reason", '"score":', '"reason":', "null", "true", "NaN", "-", "e5", "é", "٣", "ſ"]
    found = []
    while len(found) < n:
        base = rng.choice(USUAL)
        kind = rng.randrange(4)
        if kind == 0 and base:
            base = base[: rng.randrange(len(base))]
        elif kind == 1:
            at = rng.randrange(len(base) + 1)
            base = base[:at] + rng.choice(pieces) + base[at:]
        elif kind == 2 and base:
            at = rng.randrange(len(base))
            base = base[:at] + base[at + 1 :]
        else:
            base = "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 25)))
        if base not in found and base not in USUAL:
            found.append(base)
    return found


def clair(path: Path) -> dict[str, object]:
    """What clair.py reads from each answer."""
    answer = [""]

    class Engine:
        @staticmethod
        def from_string(_: str) -> "Engine":
            return Engine()

        def __call__(self, prompt: str, **_: object) -> list[str]:
            return [answer[0]]

    grazier = types.ModuleType("grazier")
    grazier.LLMEngine = Engine
    sys.modules["grazier"] = grazier
    logging.disable(logging.CRITICAL)
    program = load(path)
    rng = random.Random(SEED)
    rows = []
    for text in USUAL + hostile(rng, 520 - len(USUAL)):
        answer[0] = text
        try:
            score, reason = program.clair(["a dog"], ["a dog runs"])
        except Exception as error:  # noqa: BLE001, which errors end the program is what is asked
            rows.append({"answer": text, "error": type(error).__name__})
            continue
        if reason is None and score == 0.0:
            rows.append({"answer": text, "unreadable": True})
        elif math.isfinite(score):
            # Halves of characters, which only Python has, are replaced.
            said = reason.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if isinstance(reason, str) else None
            row = {"answer": text, "score": score}
            rows.append(row if said is None or "\ufffd" in said else row | {"reason": said})
        else:
            rows.append({"answer": text, "error": "not finite"})
    return {"program": f"DavidMChan/clair {commit(path.parent)}, clair.py; Python {sys.version.split()[0]}", "rows": rows}


# The tokens of the tiny vocabulary; a number in it is the token of that digit.
TOKENS = [*map(str, range(10)), ".", "Score", " ", "1.0"]


def fleur(path: Path) -> dict[str, object]:
    """What fleur.py makes of each answer, whose tokens have probabilities in thousandths."""
    import numpy as np
    import torch
    from PIL import Image

    rng = random.Random(SEED)
    texts = ["0.85", "0.9", "1.0", "0.0", "1", "0", "0.66", "0.50", "0.05", "0.101", "0.885", "0.8 Score 1", "Score 0.7", "2.5", "0.8.5",
             "", "Score", "1.01", "11", "0.00", "0.00005", "0.0001", ".5", "..5", "5.", "0.1 1", "0.99", "1.0 1.0", "0.3 Score 0.4"]
    while len(texts) < 200:
        texts.append("".join(rng.choice(TOKENS[:13]) for _ in range(rng.randrange(1, 6))) if rng.random() < 0.4 else f"{rng.random():.{rng.randrange(1, 4)}f}")
    rows = []
    for text in texts:
        tokens, rest = [], text
        while rest:
            # As LLaVA's tokenizer does, each digit is a token.
            found = next(token for token in TOKENS[:13] if rest.startswith(token))
            tokens.append(TOKENS.index(found))
            rest = rest[len(found) :]
        places = []
        for token in tokens:
            shares = [rng.randrange(1, 40) for _ in TOKENS]
            shares[token] += 1000 - sum(shares)
            places.append(shares)
        rows.append({"answer": text, "tokens": tokens, "thousandths": places})

    current = [0]

    class Tokenizer:
        def encode(self, text: str) -> list[int]:
            return [99, TOKENS.index(text)]

        def decode(self, ids: torch.Tensor) -> str:
            return "".join(TOKENS[int(token)] for token in ids) + "</s>"

    class Ids:
        shape = (1, 0)

        def unsqueeze(self, _: int) -> "Ids":
            return self

        def cuda(self) -> "Ids":
            return self

    class Model:
        device = "cpu"
        config = types.SimpleNamespace(mm_use_im_start_end=False)

        def generate(self, *_: object, **__: object) -> object:
            row = rows[current[0]]
            # The token that ends the text comes last.
            sequences = torch.tensor([row["tokens"]], dtype=torch.long)
            scores = tuple(torch.log(torch.tensor([place], dtype=torch.float64) / 1000) for place in row["thousandths"])
            return types.SimpleNamespace(sequences=sequences, scores=scores)

    class Conversation:
        roles = ("USER", "ASSISTANT")
        sep, sep2, sep_style = "", "</s>", 2

        def __init__(self) -> None:
            self.messages = [["USER", None], ["ASSISTANT", None]]

        def copy(self) -> "Conversation":
            return Conversation()

        def append_message(self, *_: object) -> None:
            pass

        def get_prompt(self) -> str:
            return ""

    def module(name: str, **names: object) -> None:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(names)

    for name in ("LLaVA", "LLaVA.llava", "llava"):
        module(name)
    constants = ["IMAGE_TOKEN_INDEX", "DEFAULT_IMAGE_TOKEN", "DEFAULT_IM_START_TOKEN", "DEFAULT_IM_END_TOKEN"]
    module("llava.constants", **dict.fromkeys(constants, ""))
    module("llava.conversation", conv_templates={"llava_v1": Conversation()}, SeparatorStyle=types.SimpleNamespace(TWO=2))
    module("llava.model")
    module("llava.model.builder", load_pretrained_model=lambda **_: (Tokenizer(), Model(), None, 0))
    module(
        "llava.mm_utils",
        process_images=lambda *_: torch.zeros(1),
        tokenizer_image_token=lambda *_, **__: Ids(),
        get_model_name_from_path=lambda _: "",
        KeywordsStoppingCriteria=lambda *_: None,
    )
    module("transformers", TextStreamer=lambda *_, **__: None)
    Image.open = lambda *_: types.SimpleNamespace(convert=lambda _: None)
    np.NaN = math.nan
    program = load(path)
    for number, row in enumerate(rows):
        current[0] = number
        # A good answer comes first in each run, since the program repeats the score before one that it cannot read.
        with tempfile.TemporaryDirectory() as folder:
            judged = [{"image_path": "x", "caption": str(k), "rating": float(k)} for k in (0, 0, 0)]
            Path(folder, "one.json").write_text(json.dumps({"x": {"human_judgement": judged}}), "utf-8")
            before = os.getcwd()
            os.chdir(folder)
            try:
                with redirect_stdout(io.StringIO()):
                    program.compute_human_correlation("one.json", types.SimpleNamespace(base_fold="."))
            except (NameError, UnboundLocalError, ValueError):
                pass
            finally:
                os.chdir(before)
            written = next(Path(folder, "results").iterdir()).read_text("utf-8")
        said = [line for line in written.splitlines() if line.startswith("our score : ")]
        row["score"] = float(said[0].removeprefix("our score : ")) if said else None
    versions = f"Python {sys.version.split()[0]}, torch {torch.__version__.split('+')[0]}"
    return {"program": f"Yebin46/FLEUR {commit(path.parent)}, fleur.py; {versions}", "tokens": TOKENS, "rows": rows}


def main(arguments):
    given = options(__doc__, *((name, {"type": Path}) for name in ("clair", "fleur", "folder"))).parse_args(arguments)
    for name, found in (("clair", clair(given.clair / "clair.py")), ("fleur", fleur(given.fleur / "fleur.py"))):
        text = json.dumps(found["rows"], ensure_ascii=True, separators=(",", ":")).replace("},{", "},\n{")
        head = {key: value for key, value in found.items() if key != "rows"}
        (given.folder / f"{name}.json").write_text(json.dumps(head)[:-1] + ', "rows": ' + text + "}\n", "utf-8")
        print(f"{name}: {len(found['rows'])} answers")
