"""Compare CLIPScore and PAC-S with their authors' code, on OpenAI's own model with random weights of real size.

    run.py clip_score clipscore CLIPSCORE CLIP FOLDER [--captions FILE ... --references FILE --pictures DIR]
    run.py clip_score pac-s PACSCORE FOLDER [--captions FILE ... --references FILE --pictures DIR]

CLIPSCORE, CLIP and PACSCORE are clones of jmhessel/clipscore, openai/CLIP and aimagelab/pacscore. FOLDER is where the first
command puts the model (605 MB), and where the second finds it. Captions are {id: text}, references {id: [text]}; without
files, the example of the clone is taken. Needs torch, torchvision, ftfy, regex, tqdm, scikit-learn, safetensors and, for
pacscore, setuptools<81.
"""
import gzip
import json
import pathlib
import sys
import types

from shared import Comparison, module, options, score


def write_model(folder, clip_source, model):
    """The model in a folder: weights under OpenAI's names, and the vocabulary in Hugging Face's form."""
    from clip.simple_tokenizer import SimpleTokenizer
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: tensor.contiguous() for name, tensor in model.state_dict().items()}
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    (folder / "config.json").write_text('{"model_type": "clip"}\n')
    (folder / "vocab.json").write_text(json.dumps(SimpleTokenizer().encoder))
    merges = gzip.open(clip_source / "clip/bpe_simple_vocab_16e6.txt.gz").read().decode().split("\n")
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges[1 : 49152 - 256 - 2 + 1]]) + "\n")


def clipscore(given, files, references, pictures):
    """The scores by clipscore.py, of a model that is made now."""
    sys.path[:0] = [str(given.source), str(given.clip)]
    # What clipscore.py imports only for other metrics.
    sys.modules["generation_eval_utils"] = types.ModuleType("generation_eval_utils")
    import clip.model
    import clipscore as program
    import torch

    torch.manual_seed(20210418)
    model = clip.model.CLIP(512, 224, 12, 768, 32, 77, 49408, 512, 8, 12).float().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.dim() < 2 and not name.startswith("logit"):
                parameter.add_(0.05 * torch.randn_like(parameter))
    for file, captions in files.items():
        texts = list(captions.values())
        seen = program.extract_all_images([str(pictures[key]) for key in captions], model, "cpu", 64, 0)
        if file == next(iter(files)):
            said = program.extract_all_captions(texts, model, "cpu", 256, 0)
            # Scores below 0 are clipped, so most should be above.
            if (seen * said).sum(1).mean() < 0:
                with torch.no_grad():
                    model.visual.proj.neg_()
                seen = program.extract_all_images([str(pictures[key]) for key in captions], model, "cpu", 64, 0)
            write_model(given.folder, given.clip, model)
        _, per_image, candidates = program.get_clip_score(model, seen, texts, "cpu")
        _, per_text = program.get_refonlyclipscore(model, [references[key] for key in captions], candidates, "cpu")
        both = 2 * per_image * per_text / (per_image + per_text)
        yield file, {"clip-s": per_image, "ref-clip-s": both, "pac-s": per_image / 2.5 * 2}


def pac_s(given, files, references, pictures):
    """The scores by pac_score.py."""
    sys.path.insert(0, str(given.source))
    import torch
    from models.clip import model as clip
    from safetensors.torch import load_file

    # The package around it imports all other metrics.
    program = module(given.source / "evaluation/pac_score/pac_score.py")
    model = clip.CLIP(512, 224, 12, 768, 32, 77, 49408, 512, 8, 12).float().eval()
    model.load_state_dict(load_file(given.folder / "model.safetensors"))
    for file, captions in files.items():
        paths, texts = [str(pictures[key]) for key in captions], list(captions.values())
        with torch.no_grad():
            _, per_image, candidates, lengths = program.PACScore(model, None, paths, texts, "cpu", w=2.0)
            groups = [references[key] for key in captions]
            _, per_text = program.RefPACScore(model, groups, candidates, "cpu", torch.tensor(lengths))
        # As compute_metrics.py does.
        yield file, {"pac-s": per_image, "ref-pac-s": 2 * per_image * per_text / (per_image + per_text)}


def main(arguments):
    parser = options(__doc__)
    commands = parser.add_subparsers(required=True)
    for name, run in (("clipscore", clipscore), ("pac-s", pac_s)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("source", type=pathlib.Path)
        if run is clipscore:
            command.add_argument("clip", type=pathlib.Path)
        command.add_argument("folder", type=pathlib.Path)
        command.add_argument("--captions", type=pathlib.Path, nargs="*")
        command.add_argument("--references", type=pathlib.Path)
        command.add_argument("--pictures", type=pathlib.Path)
    given = parser.parse_args(arguments)
    example = given.source / "example"
    paths = given.captions or [example / "good_captions.json", example / "bad_captions.json"]
    files = {path.name: json.loads(path.read_text()) for path in paths}
    references = json.loads((given.references or example / "refs.json").read_text())
    folder = given.pictures or example / "images"
    pictures = {path.stem: path for path in folder.iterdir()}
    comparison = Comparison()
    for file, expected in given.run(given, files, references, pictures):
        _, rows = score(files[file], references, list(expected), "--model", given.folder, "--pictures", folder)
        for name, values in expected.items():
            comparison.add(f"{file} {name}", [row[name] for row in rows], list(map(float, values)), 1e-5, list(files[file].values()))
    return comparison.end()
