// The browser of videos: a list that can be searched, sorted and filtered by error, beside the events of the opened one.

// Browsers stop at drawings of more.
const MOST_EVENTS = 5000;
const VIDEO_ORDERS = ["worst", "best", "file"];

async function videos(meta) {
  const root = document.getElementById("browser");
  const ids = await block("ids");
  const start = { system: 0, file: 0, order: "worst", error: -1, text: "", zoom: 1, video: -1, chosen: false };
  const state = { ...start };
  // What the address says; names that the page lacks are ignored.
  const restore = () => {
    const said = new URLSearchParams(location.hash.slice(1));
    const find = (name, list, usual) => { const at = said.has(name) ? list.indexOf(said.get(name)) : -1; return at < 0 ? usual : at; };
    Object.assign(state, start, {
      system: find("system", meta.systems, 0), file: find("references", meta.references, 0), text: said.get("search") || "",
      order: VIDEO_ORDERS[find("order", VIDEO_ORDERS, 0)], error: find("error", meta.errors.map(([label]) => label), -1),
      video: find("video", ids, -1),
    });
    state.chosen = state.video >= 0;
  };
  const keep = () => {
    const said = new URLSearchParams();
    const say = (name, value, isUsual) => { if (!isUsual) said.append(name, value); };
    say("video", ids[state.video], !state.chosen);
    say("system", meta.systems[state.system], state.system === 0);
    say("references", meta.references[state.file], state.file === 0);
    say("order", state.order, state.order === start.order);
    if (state.error >= 0) say("error", meta.errors[state.error][0], false);
    say("search", state.text, !state.text);
    try { history.replaceState(history.state, "", "#" + said); } catch { /* A frame without an address. */ }
  };
  restore();

  const count = element("output", { class: "count", "aria-live": "polite" });
  const box = element("div", { class: "list", role: "listbox", tabindex: "0", "aria-label": "Videos" });
  const detail = element("div", { class: "detail", role: "region", "aria-label": "The chosen video", tabindex: "-1" });
  let sums = [];
  const render = (video) => {
    const [value, counts] = sums[video];
    const bar = element("span", { class: "bar s" + (state.system % 8), "aria-hidden": "true" }, element("span", {}));
    bar.firstChild.style.width = (100 * Math.min(1, value || 0)).toFixed(1) + "%";
    const errors = counts.map((n, k) => (n ? n + " " + meta.errors[k][0] : null)).filter((words) => words);
    return element("div", { class: "row" }, element("span", { class: "lines" },
      element("span", { class: "top" }, element("span", { class: "value" }, score(value)), bar, element("bdi", { class: "id" }, visible(ids[video]))),
      element("span", { class: "caption" }, value === null ? "too many events to match" : errors.join(", ") || "no error")));
  };
  const list = new VirtualList(box, render, (video) => {
    [state.video, state.chosen] = [video, true];
    document.body.classList.add("reading");
    draw().then(() => { if (matchMedia("(max-width: 60rem)").matches) detail.focus(); });
  });

  // For each video, what is said in it.
  let texts = null;
  const allTexts = async () => {
    texts = texts || (await ofAllImages("events", meta)).map(({ references, systems }) =>
      [...references, ...systems.map((system) => system && system.events)].flatMap((events) => events || []).map((event) => event[2]).join("\n").toLowerCase());
    return texts;
  };
  let turn = 0;
  const refresh = async () => {
    const mine = ++turn;
    const wanted = state.text.trim().toLowerCase();
    const hay = wanted ? await allTexts() : [];
    const found = (await block("sums-" + state.system + "-" + state.file)) || [];
    if (mine !== turn) return;
    sums = found;
    const order = [];
    let [n, events] = [0, 0];
    found.forEach((sum, video) => {
      if (!sum) return;
      n += 1;
      if (state.error >= 0 && !sum[1][state.error]) return;
      if (wanted && !ids[video].toLowerCase().includes(wanted) && !hay[video].includes(wanted)) return;
      events += state.error >= 0 ? sum[1][state.error] : 0;
      order.push(video);
    });
    if (state.order !== "file") {
      const way = state.order === "worst" ? 1 : -1;
      const key = (video) => (sums[video][0] === null ? Infinity : way * sums[video][0]);
      order.sort((a, b) => key(a) - key(b) || a - b);
    }
    const shown = (number) => number.toLocaleString("en");
    count.textContent = (order.length === n ? "" : shown(order.length) + " of ") + shown(n) + " videos" + (state.error >= 0 ? ", " + shown(events) + " events" : "");
    const at = state.chosen ? order.indexOf(state.video) : -1;
    if (at < 0) [state.video, state.chosen] = [order.length ? order[0] : -1, false];
    list.show(Uint32Array.from(order), at < 0 && order.length ? 0 : at);
    sync();
    await draw();
  };

  // The opened video. It is drawn anew if the width changes.
  let drawn = 0;
  const draw = async () => {
    keep();
    const id = state.video;
    if (id < 0) return detail.replaceChildren(element("p", { class: "empty" }, "No video matches."));
    const video = await ofImage("events", meta, id);
    if (id !== state.video) return null;
    const events = eventsOf(video, state.system, state.file);
    const words = element("div", { class: "words cards" }, element("p", { class: "empty" }, "Point at an event, or choose it with the keyboard, to read its words."));
    const frame = element("div", { class: "scroll", role: "group", "aria-label": "Events in time", tabindex: "0" });
    const title = element("h3", {}, "Video ", element("bdi", {}, visible(ids[id])));
    const n = [0, 1].map((side) => events.filter((event) => event.side === side).length);
    const [value] = sums[id] || [null];
    const about = "SODA_c " + score(value) + ": " + n[0] + (n[0] === 1 ? " reference" : " references") + " above, "
      + (video.systems[state.system] ? n[1] + (n[1] === 1 ? " prediction" : " predictions") + " below" : "and the results lack the video");
    const isLong = events.length > MOST_EVENTS;
    detail.replaceChildren(headOf(list, title), element("p", { class: "sub" }, about), isLong ? element("p", { class: "empty" }, "These are too many events to be drawn.") : frame, isLong ? "" : words);
    if (isLong) return null;
    detail.scrollTop = 0;
    drawn = detail.clientWidth;
    const sought = state.error < 0 ? 0 : 1 << state.error;
    const width = Math.max(240, frame.clientWidth - 2) * state.zoom;
    frame.replaceChildren(timeline(meta, video, events, { width, sought, colour: state.system, show: (event) => words.replaceChildren(...eventParts(meta, events, event)) }));
    return null;
  };
  new ResizeObserver(() => { if (drawn && Math.abs(detail.clientWidth - drawn) > 8 && state.video >= 0) draw(); }).observe(detail);

  const change = (changes) => {
    Object.assign(state, changes);
    refresh();
  };
  const search = searchBox((text) => change({ text }));
  const order = choice("Sort by SODA_c", ["worst first", "best first", "file order"], (k) => change({ order: VIDEO_ORDERS[k] }));
  const error = choice("Show", ["all videos", ...meta.errors.map(([label]) => label)], (k) => change({ error: k - 1 }));
  const which = choice("System", meta.systems, (s) => change({ system: s }));
  const against = choice("References", meta.references, (f) => change({ file: f }));
  const zoom = choice("Zoom", ["whole video", "4 times", "16 times"], (k) => { state.zoom = [1, 4, 16][k]; draw(); });
  const sync = () => {
    const set = (label, k) => { label.querySelector("select").value = String(k); };
    if (search.value.trim() !== state.text.trim()) search.value = state.text;
    set(order, VIDEO_ORDERS.indexOf(state.order));
    set(error, state.error + 1);
    set(which, state.system);
    set(against, state.file);
  };
  const some = (list, label) => (list.length > 1 ? label : "");
  root.append(
    element("div", { class: "controls" }, element("label", { class: "search" }, element("span", {}, "Search"), search), error, order,
      some(meta.systems, which), some(meta.references, against), zoom, count),
    element("ul", { class: "legend events" }, ...[["matched", "matched"], ["loose", "overlaps, not matched"], ["wrong", "wrong words"], ["elsewhere", "missed, or no reference there"]]
      .map(([kind, words]) => element("li", {}, element("span", { class: "event sample " + kind }), words))),
    element("div", { class: "split" }, box, detail),
    element("details", {}, element("summary", {}, "What the errors mean"),
      element("ul", {}, ...meta.errors.map(([label, meaning]) => element("li", {}, element("b", {}, label), ": " + meaning)),
        element("li", {}, "lines: the matching of SODA_c, whose pairs have the greatest sum of overlap times METEOR; words in both captions are marked, and METEOR also matches stems and synonyms"))));
  if (state.chosen) document.body.classList.add("reading");
  const isLinked = location.hash.includes("=");
  addEventListener("hashchange", () => { restore(); refresh(); });
  await refresh();
  if (isLinked) document.getElementById("videos").scrollIntoView({ behavior: "instant" });
  document.documentElement.dataset.ready = "yes";
}
