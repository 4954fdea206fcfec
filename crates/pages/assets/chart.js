// Charts whose bars or squares list their images: on a click, or with the arrow keys and Enter.

// A range of scores or lengths, such as `BLEU-4 0.1–0.2`.
function rangeInWords(meta, { of, low, high }) {
  const measure = meta.measures.find((measure) => measure.key === of);
  if (!measure) {
    const n = Math.ceil(low);
    return n + (n === 1 ? " word" : " words") + (high === Infinity ? " or more" : high > low + 1 ? " to " + Math.floor(high) : "");
  }
  return measure.label + " " + shown(low) + (high === Infinity ? " or more" : "–" + shown(high));
}

// A function that tells whether an image is in all of the ranges.
async function filter(source, system, ranges) {
  const tests = await Promise.all(ranges.map(async (range) => ({ ...range, numbers: await source.numbers(system, range.of) })));
  return (image) => tests.every(({ numbers, low, high }) => numbers[image] !== null && numbers[image] >= low && numbers[image] < high);
}

// Lets the reader choose bars and squares: `choose` gets their ranges, and the system of the chart or null if it shows all
// systems; `current` gives the system that is counted then.
function choosable(source, choose, current) {
  const { meta } = source;
  const SVG = "http://www.w3.org/2000/svg";
  const [LEFT, RIGHT, TOP, BOTTOM] = [68, 446, 8, 228];
  for (const figure of document.querySelectorAll("figure[data-cells]")) {
    const { x, y, system } = JSON.parse(figure.dataset.cells);
    const axes = y ? [x, y] : [x];
    const svg = figure.querySelector("svg");
    const cell = svg.appendChild(document.createElementNS(SVG, "rect"));
    const words = element("output", { class: "cellwords", "aria-live": "polite" });
    figure.append(words);
    // The drawing takes the arrow keys, which screen readers otherwise keep for themselves.
    const drawing = figure.querySelector("[role=img]");
    const how = "Choose with the arrow keys, list the images with Enter. ";
    drawing.tabIndex = 0;
    drawing.setAttribute("role", "application");
    drawing.setAttribute("aria-roledescription", "chart");
    drawing.setAttribute("aria-label", figure.querySelector("figcaption").textContent + ". " + how + drawing.getAttribute("aria-label"));
    let at = null;
    const edge = ({ low, high, n }, k) => Number((low + ((high - low) * k) / n).toPrecision(5));
    const ranges = () => axes.map((axis, k) => ({ of: axis.of, low: edge(axis, at[k]), high: at[k] + 1 === axis.n ? Infinity : edge(axis, at[k] + 1) }));
    const show = async () => {
      cell.setAttribute("class", at ? "cell" : "");
      words.textContent = "";
      if (!at) return;
      const width = (RIGHT - LEFT) / x.n;
      const height = y ? (BOTTOM - TOP) / y.n : BOTTOM - TOP;
      cell.setAttribute("x", LEFT + width * at[0]);
      cell.setAttribute("width", width);
      cell.setAttribute("y", y ? BOTTOM - height * (at[1] + 1) : TOP);
      cell.setAttribute("height", height);
      const s = system === null ? current() : system;
      const mine = at;
      const of = ranges();
      const isWithin = await filter(source, s, of);
      if (mine !== at) return;
      let n = 0;
      for (let image = 0; image < meta.n; image += 1) if (isWithin(image)) n += 1;
      const name = system === null && meta.systems.length > 1 ? " of " + visible(meta.systems[s]) : "";
      words.textContent = of.map((range) => rangeInWords(meta, range)).join(", ") + ": " + n.toLocaleString("en") + (n === 1 ? " image" : " images") + name;
    };
    const move = (to) => {
      if (String(to) === String(at)) return;
      at = to;
      show();
    };
    svg.addEventListener("pointermove", (event) => {
      const box = svg.getBoundingClientRect();
      const [px, py] = [((event.clientX - box.left) / box.width) * 460, ((event.clientY - box.top) / box.height) * 280];
      const place = (share, n) => (share < 0 || share >= 1 ? -1 : Math.floor(share * n));
      const to = [place((px - LEFT) / (RIGHT - LEFT), x.n), y ? place((BOTTOM - py) / (BOTTOM - TOP), y.n) : 0];
      move(to.includes(-1) || py > BOTTOM ? null : to.slice(0, axes.length));
    });
    svg.addEventListener("pointerleave", () => { if (document.activeElement !== drawing) move(null); });
    drawing.addEventListener("blur", () => move(null));
    svg.addEventListener("click", () => { if (at) choose(ranges(), system); });
    drawing.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && at) choose(ranges(), system);
      const by = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
      if (!by) return;
      event.preventDefault();
      move(axes.map((axis, k) => Math.max(0, Math.min(axis.n - 1, at ? at[k] + by[k] : 0))));
    });
  }
}
