"""Write testdata/captions.jsonl: captions made for this project, plain and hostile, small enough for the repository.

    run.py captions > testdata/captions.jsonl
    run.py captions --shapes > testdata/shapes.jsonl

One object per line: {"id": str, "hyp": str, "refs": [str, ...]}. The first are those of examples/quickstart, followed
by scenes put together from phrases, hand-written cases that are hard to tokenise, and random hostile text from
`segments.py`. Shapes are few and odd: captions of up to 300 words, one to twenty references, references that are equally
close or equally good, blocks of words in another order, and texts of one side only. The numbers in testdata/*.toml belong
to these files: `cargo xtask goldens` recomputes them after a change.
"""
import json
import random

import segments
from shared import ROOT, options

QUICKSTART = ROOT / "examples/quickstart"

WHO = [["a man", "the man", "a person", "a guy in a blue jacket"], ["two dogs", "a pair of dogs", "dogs", "two puppies"],
       ["a young girl", "a little girl", "a child", "a kid"], ["three women", "several women", "a group of women"],
       ["a black cat", "the cat", "a cat", "a small black cat"], ["an old couple", "two elderly people", "a couple"],
       ["a cyclist", "a man on a bike", "someone on a bicycle"], ["a flock of birds", "many birds", "birds"]]
DOES = [["rides a bicycle", "is riding a bike", "cycles", "pedals"], ["sleeps", "is sleeping", "is asleep", "naps"],
        ["plays with a red ball", "is playing with a ball", "chases a red ball"],
        ["waits for the bus", "is waiting for a bus", "stands at a bus stop"],
        ["eats a slice of pizza", "is eating pizza", "is having a piece of pizza"],
        ["looks at the camera", "is looking into the camera", "poses for a photo"],
        ["walks across the street", "is crossing the road", "walks over a zebra crossing"]]
WHERE = [["in the park", "on the grass", "in a green park"], ["on the beach", "by the sea", "along the shore"],
         ["at night", "in the dark", "under street lights"], ["in front of a building", "next to a house", "outside"],
         ["on a couch", "on the sofa", "in the living room"], ["near a lake", "at the water's edge", "by a lake"]]

WRITTEN = [
    ("", ["a dog in the snow", "a dog"]),
    ("...", ["a bird on a branch", "!"]),
    ("?!", ["a sign that says \"STOP\"", "stop sign"]),
    ("train", ["train", "a train", "the train at the station"]),
    ("a", ["a"]),
    ("a man a man a man a man", ["a man rides a horse", "a man on a horse in a field"]),
    ("the the the the the the the", ["the cat is on the mat", "there is a cat on the mat"]),
    ("It's 5 p.m., isn't it?", ["a clock that shows five o'clock", "It is 5 p.m."]),
    ("The U.S. flag -- \"red, white and blue\"", ["an American flag", "the flag of the U.S."]),
    ("Mr. Smith's dog can't reach the 2nd shelf", ["a dog cannot reach a shelf", "the dog of Mr. Smith"]),
    ("1,000 people at 3.5% of $20.00", ["a crowd of 1000 people", "about 1,000 people paid $20"]),
    ("3 1/2 cups of flour", ["three and a half cups of flour", "3 1/2 cups flour"]),
    ("a t-shirt, a well-known 3-year-old's toy", ["a t shirt and a toy", "a child's t-shirt and toy"]),
    ("a man (old) can't stay...", ["an old man leaves", "a man, who is old, can't stay"]),
    ("A DOG RUNS ON THE BEACH.", ["a dog runs on the beach", "The dog is running along the beach."]),
    ("Café au lait, naïve façade, Straße", ["a cafe with a facade", "Café in a street"]),
    ("e\u0301te\u0301 \u00e9t\u00e9 ﬁsh ｆｕｌｌ Ⅷ", ["été fish full VIII", "the summer fish"]),
    ("两只小狗在草地上奔跑", ["两只小狗在草地上", "两只狗 在 跑"]),
    ("犬がビーチを走る", ["犬が浜辺を走っている", "a dog"]),
    ("собака бежит по пляжу", ["собака на пляже", "бегущая собака"]),
    ("كلب يجري على الشاطئ", ["كلب على الشاطئ"]),
    ("ΣΑΣ σας ς", ["σας σας σ", "ΣΑΣ"]),
    ("a dog 🐶🐕‍🦺 👍🏽 runs", ["a dog 🐶 runs", "👍"]),
    ("a\u00a0b\u3000c\u200bd\ufeffe\u00adf", ["a b c d e f", "a\u00a0b c"]),
    ("İstanbul ışık ſ K ẞ", ["istanbul isik s k ss", "İSTANBUL"]),
    ("www.example.com me@example.org #1 @home &amp; <b>bold</b> AT&T C++", ["a web page", "me@example.org at www.example.com"]),
    ("'90s rock'n'roll dogs' o'clock '' `` \" ' `", ["rock and roll of the nineties", "\"rock 'n' roll\""]),
    ("tab\there  two  blanks   three    four ", [" tab here two blanks three four", "tab\there"]),
    ("{[(<a>)]} - -- --- – — … / \\ | ~ ^ _", ["( a ) [ a ] { a }", "- - -"]),
    ("gonna wanna gotta cannot lemme d'ye 'twas", ["going to want to", "it was gonna be"]),
    ("a cat sat on the mat and a cat sat on the mat and a cat sat on the mat", ["a cat sat on the mat", "the mat with a cat on it"]),
    ("b c d e a", ["a b c d e", "e d c b a"]),
    ("1 2 3 4 5 6 7 8 9 10 11 12", ["12 11 10 9 8 7 6 5 4 3 2 1", "1 2 3"]),
    ("word " * 120, ["word " * 100 + "end", "words"]),
    (" ".join(f"w{k}" for k in range(60)), [" ".join(f"w{(k * 7) % 60}" for k in range(60)), "w1 w2 w3"]),
    ("supercalifragilisticexpialidocious" * 8, ["supercalifragilisticexpialidocious", "a long word"]),
]


def scene(rng):
    parts = [rng.choice(pool) for pool in (WHO, DOES, WHERE)]
    other = [rng.choice(pool) for pool in (WHO, DOES, WHERE)]

    def caption(parts):
        chosen = [rng.choice(phrases) for phrases in parts]
        if rng.random() < 0.3:
            chosen.insert(rng.randrange(3), rng.choice(["while it rains", "with a smile", "on a sunny day"]))
        text = " ".join(chosen)
        return (text[0].upper() + text[1:] + rng.choice([".", ".", "!"])) if rng.random() < 0.6 else text

    mixed = [rng.choice([a, a, a, b]) for a, b in zip(parts, other)]
    return caption(mixed), [caption(parts) for _ in range(rng.choice((2, 3, 5, 5)))]


# Equal distances and equal scores, texts of one side, words of one text only, marks, digits and other scripts.
SHAPES = [
    ("a b c d e", ["a b c d", "a b c d e f"]),
    ("a b c d e f", ["a b c d e", "b c d e f", "a b c d e f g h"]),
    ("the cat", ["the dog", "a cat", "the", "cat"]),
    ("a cat a cat", ["a cat", "a cat sat", "cat a"]),
    ("", [""]),
    ("", ["", "a dog"]),
    ("a dog", [""]),
    ("a dog", ["", "a dog runs"]),
    ("dog", ["dog"]),
    ("dog", ["dogs", "Dog", "DOG."]),
    ("running runner runs ran", ["run runs running", "a runner ran and was running"]),
    ("boxes classes hopping falling sized hissing fizzed", ["box class hop fall size hiss fizz", "boxing classy hopped fallen sizing"]),
    ("z z z y y x", ["x y z", "z y x z", "y"]),
    ("q q q", ["r r", "s"]),
    ("a, b. c! d? (e) [f] {g} -- ... ; :", ["a b c d e f g", "a , b . c ! d ? ( e ) [ f ] { g } -- ... ; :"]),
    ("\"'\" '\" ,, ,a a, ,a, .5 5. 1,000,000 3,a a,3", ["\" ' a , 5 1000000", "'a' ,a, a,3 3,a 1,000"]),
    ("3-year-old state-of-the-art t-shirt 1990-2000 - a-", ["3 year old state of the art", "3-year-old t-shirt 1990 - 2000"]),
    ("&quot;a&quot; &amp;lt; &lt;b&gt; <skipped> a&b", ["\"a\" & < b > a & b", "<skipped> &quot;"]),
    ("\u9fbb\u9fbc\u9fff \u3400\u4db5\u4db6 \u2e80\ufa2d\ufa2e 狗。猫，", ["\u9fbb \u9fbc \u9fff 狗 猫", "狗。猫，\u3400\u4db5"]),
    ("一只棕色的狗在沙滩上奔跑，追逐一个红色的球。", ["沙滩上，一只狗在追球。", "棕色的狗追着红球跑"]),
    ("قطة سوداء تنام على الأريكة، والكلب يلعب", ["قطة تنام على الأريكة", "كلب يلعب مع قطة سوداء"]),
    ("สุนัขวิ่งบนชายหาด 강아지가 해변을 달린다 子犬が走る", ["สุนัขวิ่ง", "강아지가 달린다 子犬 が 走る"]),
    ("👩‍👩‍👧 🇫🇷 🐶🐶 ❤️ a👍b", ["👩‍👩‍👧 🐶", "❤ a 👍 b 🇫🇷🇫🇷"]),
    ("A man's dogs' toys; it's the women's. The Joneses' can't", ["a man 's dogs ' toys it 's", "the women's toys cannot"]),
    ("Several people are sitting on a bench and they are eating their lunch, which is on the table.",
     ["People sit on a bench. They eat lunch at a table.", "A group of people having lunch on a bench in the park"]),
    ("There is a tall man who is in front of a red bus that is parked; his bag is blue.",
     ["a tall man stands in front of a parked red bus", "The man has a blue bag and he is near the bus.", "a red bus"]),
    ("Two women's bikes and the man's three small white dogs were seen by a child in the back of the truck.",
     ["a child in a truck sees three small dogs", "two bikes of women", "dogs are white and there are three of them"]),
]


def shapes(rng):
    """The odd cases, and paragraphs whose blocks of words have moved, got lost or been replaced."""
    yield from SHAPES
    words = [word for pool in (WHO, DOES, WHERE) for phrases in pool for phrase in phrases for word in phrase.split()]
    for n in (12, 24, 33, 40, 63, 64, 65, 66, 90, 120, 129, 180, 240, 300):
        reference = [rng.choice(words) for _ in range(n)]

        def changed(reference=reference):
            text = list(reference)
            for _ in range(1 + n // 12):
                length = rng.choice((1, 2, 3, 9, 10, 11, 12))
                start, to = rng.randrange(len(text)), rng.randrange(len(text))
                block, rest = text[start:start + length], text[:start] + text[start + length:]
                text = rest[:to] + block + rest[to:]
            text = [word if rng.random() > 0.1 else rng.choice((*words, "and", ",")) for word in text]
            return [word for word in text if rng.random() > 0.05]

        sentences = [" ".join(part) for k in range(0, n, 15) if (part := changed()[k:k + 15])]
        references = [" ".join(reference), " ".join(changed()), ". ".join(sentences)]
        yield " ".join(changed()), references[: rng.choice((1, 2, 3))]
    for n in (1, 8, 20):
        yield scene(rng)[0], [scene(rng)[0] for _ in range(n)]


def main(arguments):
    if options(__doc__, ("--shapes", {"action": "store_true"})).parse_args(arguments).shapes:
        cases = list(shapes(random.Random(23)))
    else:
        cases = captions()
    for k, (hyp, refs) in enumerate(cases):
        print(json.dumps({"id": f"own-{k}", "hyp": hyp, "refs": refs}))


def captions():
    with open(QUICKSTART / "references.json", encoding="utf-8") as file:
        references = {}
        for row in json.load(file)["annotations"]:
            references.setdefault(row["image_id"], []).append(row["caption"])
    with open(QUICKSTART / "good.json", encoding="utf-8") as file:
        cases = [(row["caption"], references[row["image_id"]]) for row in json.load(file)]
    rng = random.Random(11)
    cases += [scene(rng) for _ in range(100)]
    cases += WRITTEN
    for _ in range(60):
        texts = [segments.hostile(rng)[:300] for _ in range(rng.choice((2, 3, 4)))]
        cases.append((segments.mutate(rng, texts[1]) if rng.random() < 0.5 else texts[0], texts[1:]))
    return cases
