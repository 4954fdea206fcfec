// One image: its picture, captions and references with matched words, and how its scores were computed.

// The parts of the detail view; `source` gives the data of the page, `state` says what to show.
async function imageParts(source, state) {
  const { meta, ids, scores } = source;
  const { image, metric: m } = state;
  const [known, shapes, references, address, ...all] = await Promise.all([
    ofImage("evidence", meta, image), block("shapes"), ofImage("references", meta, image), picture(meta, ids, image),
    ...meta.systems.map((_, s) => block("captions-" + s))]);
  await source.load(meta.systems.keys());
  const { references: read, systems } = known || { references: { known: [], of: [] }, systems: [] };
  const shape = ([number]) => shapes.all[shapes.of[Math.floor(image / meta.chunk)][number]];
  const wordsOfReferences = (m) => (read.known[read.of[m]] || []).map(wordsOf);
  const wordsOfCandidate = (of, m) => wordsOf(of.candidate.known[of.candidate.of[m]]);
  const trees = systems.map((of) => of && of.trees.map((tree, m) => grow(shape(tree), tree[1], wordsOfCandidate(of, m), wordsOfReferences(m))));
  const mine = systems[state.system];

  const texts = [];
  // While the reader points at a number, the words behind it are repeated where they are visible.
  const echo = element("p", { class: "echo", dir: "auto", "aria-hidden": "true", hidden: true });
  const paint = (pointed) => {
    echo.hidden = !pointed;
    if (pointed) {
      const words = wordsOfCandidate(mine, m);
      echo.replaceChildren(marked(all[state.system][image], words, levels(words.length, pointed, null)));
    }
    for (const [box, text, words, matches, reference] of texts) {
      const chosen = pointed && (reference !== null || box.dataset.system === String(state.system)) ? pointed : matches;
      box.replaceChildren(marked(text, words, levels(words.length, chosen, reference)));
    }
  };
  const cards = meta.systems.map((name, s) => {
    const text = all[s][image];
    if (text === null) return element("li", { class: "card" }, element("bdi", { class: "name" }, visible(name)), element("p", {}, "no caption"));
    const of = systems[s];
    const words = of ? wordsOfCandidate(of, m) : [];
    const caption = element("p", { class: "text", dir: "auto", "data-system": s });
    if (state.words && s !== state.system && mine) {
      caption.append(differing(wordsOfCandidate(mine, m), words));
    } else if (of) {
      texts.push([caption, text, words, matchesOf(trees[s][m]), null]);
    } else {
      caption.append(visible(text));
    }
    if (meta.texts && text.trim() === "") caption.append(element("i", {}, "empty caption"));
    const numbers = meta.measures.map((measure, k) => element("span", { class: k === state.measure ? "now" : null },
      measure.label + " ", element("b", {}, score(scores[s][k][image]))));
    return element("li", { class: "card s" + (s % 8) + (s === state.system ? " mine" : "") },
      element("p", { class: "name" }, element("span", { class: "chip s" + (s % 8) }), element("bdi", {}, visible(name))),
      caption, element("p", { class: "numbers" }, ...numbers));
  });
  const inReferences = (trees[state.system] || [])[m];
  const matches = inReferences ? matchesOf(inReferences) : [];
  const people = (references || []).map((text, r) => {
    const item = element("li", { dir: "auto" });
    texts.push([item, text, wordsOfReferences(m)[r] || [], matches, r]);
    return item;
  });

  const parts = [];
  if (address) parts.push(enlargeable(address));
  parts.push(
    element("h4", {}, (meta.texts ? "Candidate" : "System") + (meta.systems.length > 1 ? "s" : "")), element("ul", { class: "cards" }, ...cards));
  if (people.length) parts.push(element("h4", {}, "References"), element("ol", { class: "references" }, ...people));
  if (trees[state.system]) {
    const sameWords = (k) => mine.candidate.of[k] === mine.candidate.of[m] && read.of[k] === read.of[m];
    const point = (k) => (pointed) => paint(pointed && (k === m || sameWords(k)) ? pointed : null);
    parts.push(element("h4", {}, "How the scores of ", element("bdi", {}, visible(meta.systems[state.system])), " were computed"),
      element("div", { class: "evidence" }, ...trees[state.system].flatMap((tree, k) => drawn(tree, point(k)))));
  }
  paint(null);
  return [...parts, echo];
}
