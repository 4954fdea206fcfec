// Explanations of scores: the tree of steps, from its shape and its numbers.

// Fills a shape with numbers, which are in the order of the tree.
function grow(shape, numbers, candidate, references) {
  let at = 0;
  const next = () => numbers[at++];
  const plain = (title) => ({ title, rule: null, value: undefined, note: null, facts: [], matches: [], parts: [], statements: [], list: null });
  const ngram = (start, length) => {
    const words = candidate.slice(start, start + length);
    const places = references.map((reference, r) => [r, occurrences(reference, words)]);
    return {
      matcher: length + "-gram",
      length,
      candidate: occurrences(candidate, words),
      references: places.filter(([, found]) => found.length),
    };
  };
  const pair = () => {
    const [matcher, [mine, theirs]] = [next(), next()];
    const [[r, places]] = theirs;
    const words = (from, at) => at.map((k) => from[k]).join(" ");
    const title = words(candidate, mine) + " ~ " + words(references[r] || [], places);
    return { ...plain(title), note: matcher, matches: [{ matcher, length: 0, candidate: mine, references: theirs }] };
  };
  const step = (node, k) => {
    if (node.pair) return pair();
    const made = { ...plain(node.counted ? node.title + " " + (k + 1) : node.title), rule: node.rule };
    if (node.value) made.value = next();
    if (node.note) made.note = next();
    for (const name of node.facts || []) made.facts.push([name, next()]);
    for (const matcher of node.matches || []) {
      const [mine, theirs] = next();
      made.matches.push({ matcher, length: 0, candidate: mine, references: theirs });
    }
    if (node.ngrams) {
      made.list = { names: node.ngrams, rows: [] };
      const count = next();
      for (let k = 0; k < count; k += 1) {
        const [start, length, value] = [next(), next(), next()];
        const facts = node.ngrams.map(() => next());
        const title = candidate.slice(start, start + length).join(" ");
        made.list.rows.push({ title, value, facts, match: { ...ngram(start, length), value } });
      }
    }
    if (node.statements) {
      for (let count = next(); count; count -= 1) {
        const [terms, matched, note] = [next(), next() === 1, next()];
        made.statements.push({ terms, matched });
        made.parts.push({ ...plain(terms.join(" – ")), note });
      }
    } else if (node.each) for (let count = next(), k = 0; k < count; k += 1) made.parts.push(step(node.each, k));
    else made.parts = (node.parts || []).map(step);
    return made;
  };
  return shape.map(step);
}

// All matches of these steps and the steps below them.
function matchesOf(steps) {
  const found = [];
  const walk = (step) => {
    found.push(...step.matches);
    if (step.list) found.push(...step.list.rows.map((row) => row.match));
    step.parts.forEach(walk);
  };
  steps.forEach(walk);
  return found;
}

// For each word the class of the longest match that it belongs to, and of how much the best of its matches adds to the
// score, compared with the best match of all: w1 to w4. Matches that add almost nothing are left out. `reference` is
// null for the candidate. Objects are marked whether or not a reference mentions them, and invented ones otherwise.
function levels(n, matches, reference) {
  const most = matches.reduce((best, match) => Math.max(best, match.value || 0), 0);
  const longest = new Array(n).fill(0);
  const worth = new Array(n).fill(0);
  for (const match of matches) {
    const share = match.value === undefined || !most ? 1 : match.value / most;
    if (share < 0.01) continue;
    const places = reference === null
      ? (match.references.length || match.matcher.endsWith("object") ? match.candidate : [])
      : match.references.filter(([r]) => r === reference).flatMap(([, found]) => found);
    const level = match.length ? Math.min(match.length, 4) : match.matcher === "invented object" ? 6 : 5;
    for (const k of places) {
      if (level > longest[k]) longest[k] = level;
      if (share > worth[k]) worth[k] = share;
    }
  }
  const step = (share) => (share >= 0.4 ? 4 : share >= 0.15 ? 3 : share >= 0.05 ? 2 : 1);
  return longest.map((level, k) => (level ? "g" + level + " w" + step(worth[k]) : ""));
}

// The tree as nested lists; calls `point` with the matches that the reader points at, or null.
function drawn(steps, point) {
  const pointing = (matches) => matches.length
    ? { on: { mouseenter: () => point(matches), mouseleave: () => point(null) } }
    : {};
  const line = (step, isScore) => {
    const parts = [element("span", { class: "t" }, visible(step.title))];
    if (step.value !== undefined) parts.push(element("b", {}, isScore ? score(step.value) : shown(step.value)));
    if (step.rule && (step.parts.length || (step.list && step.list.rows.length))) parts.push(element("span", { class: "r" }, "= " + step.rule));
    for (const [name, value] of step.facts) parts.push(element("span", { class: "f" }, name + " " + shown(value)));
    for (const match of step.matches) {
      if (match.references.length) parts.push(element("span", { class: "f" }, where(match)));
    }
    if (step.note) parts.push(element("span", { class: "f", dir: "auto" }, visible(step.note)));
    return parts;
  };
  const where = (match) => (match.references.length === 1 ? "in reference " : "in references ") + match.references.map(([r]) => r + 1).join(", ");
  const list = (step) => {
    const { names, rows } = step.list;
    if (!rows.length) return null;
    const head = ["n-gram", "adds", ...names, "references"];
    return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "n-grams" },
      element("table", { class: "ngrams" },
        element("thead", {}, element("tr", {}, ...head.map((name, k) => element("th", { scope: "col", class: k && k <= names.length + 1 ? "n" : null }, name)))),
        element("tbody", {}, ...rows.map((row) => element("tr", pointing([row.match]),
          element("th", { scope: "row" }, element("bdi", {}, visible(row.title))),
          element("td", { class: "n" }, shown(row.value)),
          ...row.facts.map((fact) => element("td", { class: "n" }, fact === null ? "" : shown(fact))),
          element("td", {}, row.match.references.map(([r]) => r + 1).join(", ")))))));
  };
  const branch = (step) => {
    const children = step.parts.map((part) => element("li", {}, branch(part)));
    const box = element("div", { class: "step", ...pointing(step.matches) }, element("div", { class: "line" }, ...line(step, false)));
    if (step.list) { const table = list(step); if (table) box.append(table); }
    if (step.statements.length) { const drawing = scene(step.title, step.statements); if (drawing) box.append(drawing); }
    if (children.length) box.append(element("ul", {}, ...children));
    return box;
  };
  return steps.map((step, k) => element("details", { class: "score", open: steps.length === 1 || k === steps.length - 1 },
    element("summary", {}, ...line(step, true)),
    ...(step.list ? [list(step)] : []),
    element("ul", {}, ...step.parts.map((part) => element("li", {}, branch(part))))));
}
