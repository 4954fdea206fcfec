// The state of the browser in the page's address: #image=391895&sort=cider-d&order=best.

// The state that an address describes. What it leaves out is as in `start`, and names that the page lacks are ignored.
function stateOf(hash, start, meta, ids) {
  const said = new URLSearchParams(hash.replace(/^#/, ""));
  const state = { ...start, where: [], missing: null };
  const number = (name, list, set) => {
    const at = said.has(name) ? list.indexOf(said.get(name)) : -1;
    if (at >= 0) set(at);
  };
  const keys = meta.measures.map((measure) => measure.key);
  number("sort", [...keys, "image"], (k) => {
    state.byOrder = k === keys.length;
    if (!state.byOrder) [state.measure, state.metric] = [k, meta.measures[k].metric];
  });
  number("marks", meta.metrics, (m) => { state.metric = m; });
  number("system", meta.systems, (s) => { state.system = s; });
  number("from", ["none", ...meta.systems], (s) => { state.other = s - 1; });
  number("order", ["worst", "best", "apart"], () => { state.order = said.get("order"); });
  if (state.other < 0 && state.order === "apart") state.order = "worst";
  state.text = said.get("search") || "";
  state.references = said.get("references") === "yes";
  state.words = said.get("words") === "yes";
  state.wall = said.get("view") === "wall";
  for (const range of said.getAll("where")) {
    const [, of, low, high] = /^(.*) (-?[\d.e+-]+?)\.\.(-?[\d.e+-]*)$/.exec(range) || [];
    if (of === "words" || keys.includes(of)) state.where.push({ of, low: Number(low), high: high ? Number(high) : Infinity });
  }
  const groups = said.getAll("group");
  state.groups = start.groups.slice();
  said.getAll("by").forEach((by, k) => {
    const p = state.groups.findIndex((_, p) => meta.groups[p].by === by);
    if (p >= 0) state.groups[p] = meta.groups[p].names.indexOf(groups[k]);
  });
  if (said.has("image")) {
    state.image = ids.findIndex((id) => String(id) === said.get("image"));
    state.chosen = state.image >= 0;
    if (!state.chosen) state.missing = said.get("image");
  }
  return state;
}

// The address of a state, without what is as in `start`.
function addressOf(state, start, meta, ids) {
  const said = new URLSearchParams();
  const say = (name, value, isUsual) => { if (!isUsual) said.append(name, value); };
  say("image", ids[state.image], !state.chosen);
  const sort = state.byOrder ? "image" : meta.measures[state.measure].key;
  say("sort", sort, !state.byOrder && state.measure === start.measure);
  say("order", state.order, state.order === start.order);
  say("system", meta.systems[state.system], state.system === start.system);
  say("from", state.other < 0 ? "none" : meta.systems[state.other], state.other === start.other);
  say("marks", meta.metrics[state.metric], state.metric === meta.measures[state.measure].metric);
  say("search", state.text, !state.text);
  say("references", "yes", !state.references);
  say("words", "yes", !state.words);
  say("view", "wall", !state.wall);
  for (const { of, low, high } of state.where) say("where", of + " " + low + ".." + (high === Infinity ? "" : high), false);
  state.groups.forEach((group, p) => {
    say("by", group < 0 || meta.groups[p].by, group < 0);
    say("group", group < 0 || meta.groups[p].names[group], group < 0);
  });
  return "#" + said;
}
