// The page: theme, charts, and the browser of images.

function themes() {
  const button = document.getElementById("theme");
  const names = ["auto", "light", "dark"];
  let theme = "auto";
  try { theme = localStorage.getItem("capeval-theme") || "auto"; } catch { /* The choice lasts for this visit only. */ }
  const apply = () => {
    if (theme === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    button.textContent = "Theme: " + theme;
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    theme = names[(names.indexOf(theme) + 1) % names.length];
    try { localStorage.setItem("capeval-theme", theme); } catch { /* The choice lasts for this visit only. */ }
    apply();
  });
  apply();
}

function scatters(systems) {
  const box = document.getElementById("scatters");
  if (!box || box.children.length < 2) return;
  const groups = [...box.children];
  const show = (k) => groups.forEach((group, at) => { group.hidden = at !== k; });
  const select = choice("System", systems.slice(0, groups.length), (k) => show(k));
  box.before(element("div", { class: "controls" }, select));
  groups.forEach((group) => group.querySelector("h4").remove());
  show(0);
}

function choice(label, names, changed) {
  const select = element("select", { on: { change: () => changed(Number(select.value)) } },
    ...names.map((name, k) => element("option", { value: k }, visible(name))));
  return element("label", {}, element("span", {}, label), select);
}

async function browser(meta) {
  const root = document.getElementById("browser");
  const ids = await block("ids");
  const scores = [];
  const load = async (systems) => {
    for (const s of systems) scores[s] = scores[s] || await block("scores-" + s);
  };
  const state = { system: 0, other: -1, measure: meta.headline, byOrder: false, worst: true, text: "", references: false, metric: 0, words: false, image: -1 };
  const captions = [];
  const lowered = new Map();
  const value = (s, image) => scores[s][state.measure][image];
  const key = (image) => {
    const mine = value(state.system, image);
    if (mine === null || state.other < 0) return mine;
    const other = value(state.other, image);
    return other === null ? null : mine - other;
  };

  // The list.
  const count = element("output", { class: "count", "aria-live": "polite" });
  const box = element("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Images" });
  const detail = element("div", { class: "detail", role: "region", "aria-label": "The chosen image", tabindex: "-1" });
  // The score of a full bar: the largest score of the system, or the highest possible one if that is at most 1.
  const spans = [];
  const span = (s, m) => {
    const key = s * meta.measures.length + m;
    if (!spans[key]) {
      const most = scores[s][m].reduce((a, b) => (b > a ? b : a), 0);
      spans[key] = meta.measures[m].max && meta.measures[m].max <= 1 ? meta.measures[m].max : most || 1;
    }
    return spans[key];
  };
  const render = (image) => {
    const s = state.system;
    const shownValue = key(image);
    const difference = state.other >= 0;
    const share = shownValue === null ? 0 : Math.min(1, Math.abs(shownValue) / span(s, state.measure));
    const bar = element("span", { class: "bar s" + (s % 8), "aria-hidden": "true" }, element("span", {}));
    bar.firstChild.style.width = (100 * share).toFixed(1) + "%";
    const text = captions[s] ? captions[s][image] : "";
    return element("div", { class: "row" },
      element("span", { class: "top" },
        element("span", { class: "value" }, (difference && shownValue > 0 ? "+" : "") + score(shownValue)),
        bar,
        element("bdi", { class: "id" }, visible(String(ids[image])))),
      element("span", { class: "caption", dir: "auto" },
        text === null ? "no caption" : visible(text.slice(0, 300)) || "empty caption"));
  };
  const open = async (image) => {
    state.image = image;
    document.body.classList.add("reading");
    await draw();
    if (matchMedia("(max-width: 60rem)").matches) detail.focus();
  };
  const list = new VirtualList(box, render, open);

  const texts = async (name) => {
    if (!lowered.has(name)) {
      const all = await block(name);
      lowered.set(name, all.map((text) => (Array.isArray(text) ? text.join("\n") : text || "").toLowerCase()));
    }
    return lowered.get(name);
  };
  let turn = 0;
  const refresh = async (keep) => {
    const mine = ++turn;
    const wanted = state.text.trim().toLowerCase();
    const hay = [];
    if (wanted) {
      for (let s = 0; s < meta.systems.length; s += 1) hay.push(await texts("captions-" + s));
      if (state.references) hay.push(await texts("references"));
    }
    await load(state.other < 0 ? [state.system] : [state.system, state.other]);
    captions[state.system] = await block("captions-" + state.system);
    if (mine !== turn) return;
    const order = [];
    for (let image = 0; image < meta.n; image += 1) {
      // Captions without a finite score are listed as well.
      if (captions[state.system] && captions[state.system][image] === null) continue;
      if (!wanted || String(ids[image]).toLowerCase().includes(wanted) || hay.some((all) => all[image].includes(wanted))) order.push(image);
    }
    if (!state.byOrder) {
      const keys = new Float64Array(meta.n);
      const up = meta.measures[state.measure].higher === state.worst;
      for (const image of order) {
        const of = key(image);
        keys[image] = of === null ? Infinity : up ? of : -of;
      }
      order.sort((a, b) => keys[a] - keys[b] || a - b);
    }
    const n = order.length;
    count.textContent = n === meta.n ? n.toLocaleString("en") + " images" : n.toLocaleString("en") + " of " + meta.n.toLocaleString("en") + " images";
    list.show(Uint32Array.from(order), keep);
  };

  // The chosen image.
  const draw = async () => {
    const image = state.image;
    if (image < 0) {
      detail.replaceChildren(element("p", { class: "empty" }, "Choose an image to see its references, its matched words and how its scores were computed."));
      return;
    }
    const [known, shapes, references, pictures, ...all] = await Promise.all([
      evidenceOf(meta, image), block("shapes"), block("references"), block("pictures"),
      ...meta.systems.map((_, s) => block("captions-" + s))]);
    await load(meta.systems.keys());
    if (image !== state.image) return;
    const { references: read, systems } = known || { references: { known: [], of: [] }, systems: [] };
    const wordsOfReferences = (m) => (read.known[read.of[m]] || []).map(wordsOf);
    const wordsOfCandidate = (of, m) => wordsOf(of.candidate.known[of.candidate.of[m]]);
    const trees = systems.map((of) => of && of.trees.map((tree, m) => grow(shapes, tree, wordsOfCandidate(of, m), wordsOfReferences(m))));
    const mine = systems[state.system];
    const m = state.metric;

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
      if (text.trim() === "") caption.append(element("i", {}, "empty caption"));
      const numbers = meta.measures.map((measure, k) => element("span", { class: k === state.measure ? "now" : null },
        measure.label + " ", element("b", {}, score(scores[s][k][image]))));
      return element("li", { class: "card s" + (s % 8) + (s === state.system ? " mine" : "") },
        element("p", { class: "name" }, element("span", { class: "chip s" + (s % 8) }), element("bdi", {}, visible(name))),
        caption, element("p", { class: "numbers" }, ...numbers));
    });
    const inReferences = (trees[state.system] || [])[m];
    const matches = inReferences ? matchesOf(inReferences) : [];
    const people = references[image].map((text, r) => {
      const item = element("li", { dir: "auto" });
      texts.push([item, text, wordsOfReferences(m)[r] || [], matches, r]);
      return item;
    });

    const previous = element("button", { type: "button", on: { click: () => list.go(list.at - 1) }, disabled: list.at <= 0 }, "Previous");
    const next = element("button", { type: "button", on: { click: () => list.go(list.at + 1) }, disabled: list.at >= list.order.length - 1 }, "Next");
    const close = element("button", { type: "button", class: "close", on: { click: () => { document.body.classList.remove("reading"); box.focus(); } } }, "Back to the list");
    const parts = [
      element("div", { class: "bars" }, element("h3", {}, "Image ", element("bdi", {}, visible(String(ids[image])))), element("span", { class: "nav" }, close, previous, next)),
    ];
    const address = picture(meta, pictures, ids[image], image);
    if (address) {
      const img = element("img", { src: address, alt: "The image that the captions describe", loading: "lazy" });
      const figure = element("figure", { class: "picture" }, img);
      img.addEventListener("error", () => figure.replaceChildren(element("figcaption", { class: "sub" }, "the picture was not found")));
      parts.push(figure);
    }
    parts.push(
      element("h4", {}, meta.systems.length > 1 ? "Candidates" : "Candidate"), element("ul", { class: "cards" }, ...cards),
      element("h4", {}, "References"), element("ol", { class: "references" }, ...people));
    if (trees[state.system]) {
      parts.push(element("h4", {}, "How the scores of ", element("bdi", {}, visible(meta.systems[state.system])), " were computed"),
        element("div", { class: "evidence" }, ...trees[state.system].flatMap((tree, k) => drawn(tree, (pointed) => paint(pointed && (k === m || sameWords(k)) ? pointed : null)))));
    }
    function sameWords(k) {
      return mine.candidate.of[k] === mine.candidate.of[m] && read.of[k] === read.of[m];
    }
    detail.replaceChildren(...parts, echo);
    paint(null);
    detail.scrollTop = 0;
  };

  // The controls.
  const search = element("input", { type: "search", placeholder: "word, phrase or id", "aria-label": "Search captions and ids" });
  let timer = 0;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => { state.text = search.value; refresh(true); }, 120);
  });
  const check = (label, changed) => {
    const input = element("input", { type: "checkbox", on: { change: () => changed(input.checked) } });
    return element("label", { class: "check" }, input, element("span", {}, label));
  };
  const sort = choice("Sort by", [...meta.measures.map((measure) => measure.label), "image order"], (k) => {
    state.byOrder = k === meta.measures.length;
    state.measure = state.byOrder ? meta.headline : k;
    turnButton.disabled = state.byOrder;
    refreshAll();
  });
  sort.querySelector("select").value = String(state.measure);
  const turnButton = element("button", { type: "button", id: "order", on: { click: () => {
    state.worst = !state.worst;
    turnButton.textContent = state.worst ? "Worst first" : "Best first";
    refresh(false);
  } } }, "Worst first");
  const refreshAll = () => { refresh(false).then(draw); };
  const controls = [element("label", { class: "search" }, element("span", {}, "Search"), search), check("include references", (on) => { state.references = on; refresh(true); }), sort, turnButton];
  if (meta.systems.length > 1) {
    const names = meta.systems;
    controls.push(choice("System", names, (s) => { state.system = s; refresh(true).then(draw); }));
    controls.push(choice("Difference from", ["none", ...names], (k) => { state.other = k - 1; refreshAll(); }));
    controls.push(check("word differences", (on) => { state.words = on; draw(); }));
  }
  if (meta.metrics.length > 1) controls.push(choice("Highlight by", meta.metrics, (k) => { state.metric = k; draw(); }));
  const legend = element("p", { class: "marks" }, "Matched words: ",
    ...[1, 2, 3, 4].map((n) => element("mark", { class: "g" + n }, n < 4 ? n + "-gram" : "4-gram or longer")), " ",
    element("mark", { class: "g5" }, "other match"));
  root.append(element("div", { class: "controls" }, ...controls, count), legend, element("div", { class: "split" }, box, detail));
  await refresh(false);
  if (matchMedia("(min-width: 60.01rem)").matches && list.order.length) {
    list.at = 0;
    list.draw(true);
    state.image = list.order[0];
  }
  document.documentElement.dataset.ready = "yes";
  await draw();
}

// The URL of an image's picture, or null.
function picture(meta, files, id, image) {
  if (!meta.pictures) return null;
  if (meta.pictures === true) return files && files[image] ? files[image].split("/").map(encodeURIComponent).join("/") : null;
  return meta.pictures.replace(/\{id(?::0(\d{1,2}))?\}/g, (_, width) =>
    encodeURIComponent(String(id).padStart(Number(width || 0), "0")).replace(/%2F/g, "/"));
}

function fail(error) {
  const root = document.getElementById("browser");
  if (root) root.append(element("p", { class: "empty", role: "alert" }, "The images cannot be shown: " + error.message));
  console.error(error);
}

themes();
block("meta").then((meta) => {
  if (!meta) return null;
  scatters(meta.systems);
  return browser(meta);
}).catch(fail);
