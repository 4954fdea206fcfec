// Scene graphs: boxes are things, with their attributes inside, and arrows are relations. What the other side does not
// state is dashed.

// Larger graphs are left to the list of their statements.
const MOST_THINGS = 80;

// The drawing of a list of statements, each `{ terms, matched }`; null if there is nothing to draw.
function scene(title, statements) {
  const things = new Map();
  const thing = (name) => {
    if (!things.has(name)) things.set(name, { lines: [{ text: name, matched: false }], layer: null });
    return things.get(name);
  };
  const arrows = [];
  for (const { terms: [name, second, target], matched } of statements) {
    const source = thing(name);
    if (target !== undefined) arrows.push({ source, text: second, target: thing(target), matched });
    else if (second !== undefined) source.lines.push({ text: second, matched });
    else source.lines[0].matched = matched;
  }
  const boxes = [...things.values()];
  if (!boxes.length || boxes.length > MOST_THINGS) return null;

  // Things to which nothing is related stand on the left, and others to the right of what is related to them.
  const layers = [];
  const starts = boxes.filter((box) => !arrows.some(({ source, target }) => target === box && source !== box));
  for (const start of [...starts, ...boxes]) {
    for (let row = start.layer === null ? [start] : [], layer = 0; row.length; layer += 1) {
      const open = row.filter((box, k) => box.layer === null && row.indexOf(box) === k);
      for (const box of open) {
        box.layer = layer;
        (layers[layer] = layers[layer] || []).push(box);
      }
      row = arrows.filter(({ source }) => open.includes(source)).map(({ target }) => target);
    }
  }

  // Characters are about 7 units wide and lines 18 high.
  const widthOf = (texts) => 7 * texts.reduce((most, text) => Math.max(most, [...text].length), 0);
  let [right, bottom] = [4, 0];
  layers.forEach((layer) => {
    let y = 4;
    const width = widthOf(layer.flatMap((box) => box.lines.map(({ text }) => text))) + 16;
    for (const box of layer) {
      Object.assign(box, { x: right, y, width, height: 18 * box.lines.length + 8 });
      y += box.height + 22;
    }
    right += width + widthOf(arrows.filter(({ source }) => layer.includes(source)).map(({ text }) => text)) + 40;
    bottom = Math.max(bottom, y);
  });

  const made = (tag, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text) node.textContent = visible(text);
    return node;
  };
  const shade = (matched) => (matched ? "both" : "one");
  const label = title + ": " + statements.map(({ terms }) => terms.join(" ")).join(", ");
  const svg = made("svg", { class: "scene", role: "img", "aria-label": visible(label), width: right, height: bottom, viewBox: "0 0 " + right + " " + bottom });
  const taken = [];
  for (const { source, text, target, matched } of arrows) {
    const [x, y] = [source.x + source.width, source.y + source.height / 2];
    const forwards = target.layer > source.layer;
    const [tipX, tipY] = [forwards ? target.x : target.x + target.width, target.y + target.height / 2 + (source === target ? 9 : 0)];
    const bend = forwards ? (tipX - x) / 2 : 40;
    const [leave, enter] = [x + bend, forwards ? tipX - bend : tipX + bend];
    const head = forwards ? -7 : 7;
    let [middle, height] = [(x + 3 * leave + 3 * enter + tipX) / 8, (y + tipY) / 2 - 4];
    while (taken.some(([a, b]) => Math.abs(a - middle) < 60 && Math.abs(b - height) < 14)) height += 14;
    taken.push([middle, height]);
    svg.append(
      made("path", { class: shade(matched), d: `M${x} ${y}C${leave} ${y} ${enter} ${tipY} ${tipX} ${tipY}` }),
      made("path", { class: "head", d: `M${tipX} ${tipY}l${head} -4v8z` }),
      made("text", { x: middle, y: height }, text));
  }
  for (const { lines, x, y, width, height } of boxes) {
    svg.append(made("rect", { class: shade(lines[0].matched), x, y, width, height, rx: 5 }));
    lines.forEach(({ text, matched }, k) => svg.append(
      made("text", { class: (k ? "attribute " : "thing ") + shade(matched), x: x + width / 2, y: y + 18 * (k + 1) - 1 }, text)));
  }
  return element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": title },
    svg, element("p", { class: "note" }, "dashed and without colour: not stated by the other side"));
}
