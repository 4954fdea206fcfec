// The browser of images: a list that can be searched, sorted and filtered, beside the opened image.

const ORDERS = ["worst", "best", "apart"];

async function browser(meta) {
  const root = document.getElementById("browser");
  const ids = await block("ids");
  const scores = [];
  const captions = [];
  const load = async (systems) => {
    for (const s of systems) scores[s] = scores[s] || await block("scores-" + s);
  };
  const lengths = [];
  // For each image, a system's score by the measure `of`, or the number of words of its caption.
  const numbers = async (s, of) => {
    if (of !== "words") {
      await load([s]);
      return scores[s][meta.measures.findIndex((measure) => measure.key === of)];
    }
    lengths[s] = lengths[s] || (await block("captions-" + s)).map((text) => (text === null ? null : (text.match(/\S+/g) || []).length));
    return lengths[s];
  };
  const source = { meta, ids, scores, load, numbers };
  const [system, other] = meta.difference || [0, -1];
  const properties = meta.groups || [];
  const start = {
    system, other, order: other < 0 ? "worst" : "apart", measure: meta.headline, metric: meta.measures[meta.headline].metric, byOrder: false,
    text: "", references: false, words: false, wall: false, where: [], groups: properties.map(() => -1), image: -1, chosen: false, missing: null,
  };
  const state = stateOf(location.hash, start, meta, ids);
  const isLinked = location.hash.includes("=");

  const value = (s, image) => scores[s][state.measure][image];
  const key = (image) => {
    const mine = value(state.system, image);
    if (mine === null || state.other < 0) return mine;
    const other = value(state.other, image);
    return other === null ? null : mine - other;
  };
  // The score of a full bar: the largest score of the system, or the highest possible one if that is at most 1.
  const spans = [];
  const span = (s, m) => {
    const at = s * meta.measures.length + m;
    if (!spans[at]) {
      const most = scores[s][m].reduce((a, b) => (b > a ? b : a), 0);
      spans[at] = meta.measures[m].max && meta.measures[m].max <= 1 ? meta.measures[m].max : most || 1;
    }
    return spans[at];
  };

  // The list.
  const count = element("output", { class: "count", "aria-live": "polite" });
  const box = element("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Images" });
  const detail = element("div", { class: "detail", role: "region", "aria-label": "The chosen image", tabindex: "-1" });
  const split = element("div", { class: "split" }, box, detail);
  const render = (image) => {
    const s = state.system;
    const number = key(image);
    const share = number === null ? 0 : Math.min(1, Math.abs(number) / span(s, state.measure));
    const words = element("span", { class: "value" }, (state.other >= 0 && number > 0 ? "+" : "") + score(number));
    const id = element("bdi", { class: "id" }, visible(String(ids[image])));
    const text = captions[s] ? captions[s][image] : "";
    const says = text === null ? "no caption" : visible(text.slice(0, 300)) || (meta.texts ? "empty caption" : "");
    if (state.wall) {
      // A difference has the colour of the system that scores higher.
      const tile = element("div", { class: "tile s" + ((number < 0 && state.other >= 0 ? state.other : s) % 8), title: says },
        thumbnail(meta, ids, image) || element("span", { class: "caption", dir: "auto" }, says), words, id);
      tile.style.setProperty("--share", (100 * share).toFixed(1) + "%");
      return tile;
    }
    const bar = element("span", { class: "bar s" + (s % 8), "aria-hidden": "true" }, element("span", {}));
    bar.firstChild.style.width = (100 * share).toFixed(1) + "%";
    return element("div", { class: "row" }, thumbnail(meta, ids, image), element("span", { class: "lines" },
      element("span", { class: "top" }, words, bar, id), element("span", { class: "caption", dir: "auto" }, says)));
  };
  const list = new VirtualList(box, render, (image) => {
    [state.image, state.chosen, state.missing] = [image, true, null];
    document.body.classList.add("reading");
    draw().then(() => { if (matchMedia("(max-width: 60rem)").matches) detail.focus(); });
  });

  const lowered = new Map();
  const texts = async (name) => {
    if (!lowered.has(name)) {
      const all = name === "references" ? await ofAllImages(name, meta) : await block(name);
      lowered.set(name, all.map((text) => (Array.isArray(text) ? text.join("\n") : text || "").toLowerCase()));
    }
    return lowered.get(name);
  };
  let turn = 0;
  // Lists the images anew; the opened image stays open while it is listed, or else the first one is opened.
  const refresh = async () => {
    const mine = ++turn;
    const wanted = state.text.trim().toLowerCase();
    const hay = [];
    if (wanted) {
      for (let s = 0; s < meta.systems.length; s += 1) hay.push(await texts("captions-" + s));
      if (state.references) hay.push(await texts("references"));
    }
    await load(state.other < 0 ? [state.system] : [state.system, state.other]);
    captions[state.system] = await block("captions-" + state.system);
    const isWithin = await filter(source, state.system, state.where);
    const groups = properties.length ? await block("groups-" + state.system) : [];
    const isIn = (image) => state.groups.every((group, p) => group < 0 || groups[p][image].includes(group));
    if (mine !== turn) return;
    const order = [];
    for (let image = 0; image < meta.n; image += 1) {
      // Captions without a finite score are listed as well.
      if (captions[state.system] && captions[state.system][image] === null) continue;
      if (!isWithin(image) || !isIn(image)) continue;
      if (!wanted || String(ids[image]).toLowerCase().includes(wanted) || hay.some((all) => all[image].includes(wanted))) order.push(image);
    }
    if (!state.byOrder) {
      const keys = new Float64Array(meta.n);
      const up = meta.measures[state.measure].higher === (state.order === "worst");
      for (const image of order) {
        const of = key(image);
        keys[image] = of === null ? Infinity : state.order === "apart" ? -Math.abs(of) : up ? of : -of;
      }
      order.sort((a, b) => keys[a] - keys[b] || a - b);
    }
    const n = order.length;
    count.textContent = n === meta.n ? n.toLocaleString("en") + " images" : n.toLocaleString("en") + " of " + meta.n.toLocaleString("en") + " images";
    split.classList.toggle("wall", state.wall);
    [list.height, list.width] = state.wall ? [124, 116] : [58, null];
    const at = state.chosen ? order.indexOf(state.image) : -1;
    if (at < 0) [state.image, state.chosen] = [n ? order[0] : -1, false];
    list.show(Uint32Array.from(order), at < 0 && n ? 0 : at);
    sync();
    await draw();
  };

  // The opened image.
  const draw = async () => {
    try { history.replaceState(history.state, "", addressOf(state, start, meta, ids)); } catch { /* A frame without an address. */ }
    const image = state.image;
    if (image < 0) {
      detail.replaceChildren(element("p", { class: "empty" }, "No image matches the search."));
      return;
    }
    const parts = await imageParts(source, state);
    if (image !== state.image) return;
    const title = element("h3", {}, "Image ", element("bdi", {}, visible(String(ids[image]))));
    if (state.missing !== null) parts.unshift(element("p", { class: "empty", role: "alert" }, "The page has no image ", element("bdi", {}, visible(state.missing)), "."));
    detail.replaceChildren(headOf(list, title), ...parts);
    detail.scrollTop = 0;
  };

  // The controls. Each is set from the state by `sync`.
  const change = (changes) => {
    Object.assign(state, changes);
    refresh();
  };
  const search = searchBox((text) => change({ text }));
  const references = check("search references, too", (on) => change({ references: on }));
  const sort = choice("Sort by", [...meta.measures.map((measure) => measure.label), "image order"], (k) => {
    if (k === meta.measures.length) change({ byOrder: true });
    else change({ byOrder: false, measure: k, metric: meta.measures[k].metric });
  });
  const order = choice("Order", ["worst first", "best first", "largest difference first"], (k) => change({ order: ORDERS[k] }));
  order.querySelector("select").id = "order";
  const which = choice("System", meta.systems, (s) => change({ system: s }));
  const from = choice("Difference from", ["none", ...meta.systems], (k) => change({ other: k - 1, order: k ? "apart" : state.order === "apart" ? "worst" : state.order }));
  const words = check("mark words that differ", (on) => change({ words: on }));
  const marks = choice("Marks show", meta.metrics, (k) => change({ metric: k }));
  const wall = check("pictures side by side", (on) => change({ wall: on }));
  // State with the images of a group of a property; -1 is all of them.
  const within = (property, group) => ({ groups: state.groups.map((old, p) => (p === property ? group : old)) });
  const kinds = properties.map(({ by, names }, p) => choice(by, ["all", ...names], (k) => change(within(p, k - 1))));
  const filters = element("span", { class: "filters" });
  const sync = () => {
    const set = (label, k) => { label.querySelector("select").value = String(k); };
    if (search.value.trim() !== state.text.trim()) search.value = state.text;
    references.firstChild.checked = state.references;
    set(sort, state.byOrder ? meta.measures.length : state.measure);
    set(order, ORDERS.indexOf(state.order));
    order.querySelector("select").disabled = state.byOrder;
    order.querySelector("option:last-child").hidden = state.other < 0;
    set(which, state.system);
    set(from, state.other + 1);
    words.firstChild.checked = state.words;
    set(marks, state.metric);
    wall.firstChild.checked = state.wall;
    kinds.forEach((kind, p) => set(kind, state.groups[p] + 1));
    const ranges = state.where.map((range) => [rangeInWords(meta, range), { where: state.where.filter((other) => other !== range) }]);
    const chosen = properties.map(({ by, names }, p) => [visible(by + ": " + names[state.groups[p]]), within(p, -1)]);
    filters.replaceChildren(...[...ranges, ...chosen.filter((_, p) => state.groups[p] >= 0)].map(([words, without]) => element("button", {
      type: "button", title: "Remove this filter", "aria-label": "Remove the filter " + words,
      on: { click: () => { change(without); box.focus(); } },
    }, element("bdi", {}, words), " ×")));
  };
  const several = (labels) => labels.filter((label) => label !== null);
  const group = (name, labels) => element("div", { class: "group", role: "group", "aria-label": name }, ...several(labels));
  const some = (n, label) => (n > 1 ? label : null);
  const n = meta.systems.length;
  // On a small screen, all but the search and the order are in a drawer.
  const drawer = element("details", { class: "drawer" }, element("summary", {}, "More choices"),
    group("Systems", [some(n, which), some(n, from), order]),
    kinds.length ? group("Groups", kinds) : null,
    group("What is shown", [...(meta.references ? [references, some(n, words), some(meta.metrics.length, marks)] : []), wall]));
  const large = matchMedia("(min-width: 60rem)");
  const unfold = () => { drawer.open = large.matches; };
  large.addEventListener("change", unfold);
  unfold();
  const first = group("Search and order", [element("label", { class: "search" }, element("span", {}, "Search"), search), sort]);
  const legend = element("p", { class: "marks" }, "Matched words: ",
    ...[1, 2, 3, 4].map((n) => element("mark", { class: "g" + n }, n < 4 ? n + "-gram" : "4-gram or longer")), " ",
    element("mark", { class: "g5" }, "other match"),
    meta.metrics.some((metric) => metric.startsWith("chair")) ? element("mark", { class: "g6" }, "invented object") : "", "; paler where a match adds less to the score");
  root.append(element("div", { class: "controls" }, first, drawer, filters, count), meta.references ? legend : "", split);
  if (state.chosen) document.body.classList.add("reading");
  addEventListener("hashchange", () => {
    Object.assign(state, stateOf(location.hash, start, meta, ids));
    refresh();
  });
  choosable(source, (ranges, s) => {
    change({ where: ranges, system: s === null ? state.system : s });
    document.getElementById("images").scrollIntoView();
    box.focus({ preventScroll: true });
  }, () => state.system);
  await refresh();
  if (isLinked) document.getElementById("images").scrollIntoView({ behavior: "instant" });
  document.documentElement.dataset.ready = "yes";
}
