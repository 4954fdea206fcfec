// The events of one video on an axis of time: references above, predictions below, and lines between those that match.

const LANE = 26;
const GAP = 44;
const LEAST_WIDTH = 7;
// Narrower bars have no room for letters.
const NARROW = 24;
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 18000, 36000];

// Seconds as 1:05, or 1:02:05 from an hour on; with a digit after the point where there is one.
function clock(seconds) {
  const tenths = Math.round(Math.abs(seconds) * 10);
  const [whole, tenth] = [Math.floor(tenths / 10), tenths % 10];
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (n) => String(n).padStart(2, "0");
  return (seconds < 0 && tenths ? "−" : "") + (hours ? hours + ":" + two(minutes) : minutes) + ":" + two(rest) + (tenth ? "." + tenth : "");
}

// The lane of each span, so that none covers another, and the number of lanes.
function lanesOf(spans) {
  const ends = [];
  const lanes = new Array(spans.length);
  const order = spans.map((_, k) => k).sort((a, b) => spans[a][0] - spans[b][0]);
  for (const k of order) {
    let lane = ends.findIndex((end) => end <= spans[k][0]);
    if (lane < 0) lane = ends.length;
    ends[lane] = spans[k][1] + 1;
    lanes[k] = lane;
  }
  return [lanes, Math.max(1, ends.length)];
}

// What is shown of a video: its events as a list of `{ side, k, at: [start, end, caption], link, errors }`, references
// first. A link is `[reference, overlap, score, isMatch]`, or null.
function eventsOf(video, system, file) {
  const references = video.references[file] || [];
  const predicted = video.systems[system];
  const [links, missed] = (predicted && predicted.files[file]) || [[], []];
  const isMissed = new Set(predicted ? missed : references.keys());
  return [
    ...references.map((at, k) => ({ side: 0, k, at, link: null, errors: isMissed.has(k) ? 1 : 0 })),
    ...(predicted ? predicted.events : []).map((at, k) => {
      const link = links[k] || [null, null, null, false, 0];
      return { side: 1, k, at, link: link[0] === null ? null : link.slice(0, 4), errors: link[4] };
    }),
  ];
}

// The drawing, `width` pixels wide; `show` is called with the event that is pointed at or has the focus, and `sought`
// are the bits of the errors to be found.
function timeline(meta, video, events, { width, sought, colour, show }) {
  const times = events.flatMap(({ at }) => [at[0], at[1]]);
  const reduce = (of, start) => times.reduce((a, b) => of(a, b), start);
  const [low, high] = [reduce(Math.min, 0), reduce(Math.max, video.duration || 0)];
  const x = (time) => (high > low ? (time - low) / (high - low) : 0) * (width - 2);
  const sides = [0, 1].map((side) => events.filter((event) => event.side === side));
  const spans = sides.map((list) => list.map(({ at }) => {
    const [from, to] = [x(Math.min(at[0], at[1])), x(Math.max(at[0], at[1]))];
    const left = Math.max(0, Math.min(from, width - LEAST_WIDTH));
    return [left, Math.min(width, Math.max(to, left + LEAST_WIDTH))];
  }));
  const packed = spans.map(lanesOf);
  const middle = packed[0][1] * LANE;
  const bottom = middle + GAP + packed[1][1] * LANE;
  const top = ({ side, k }) => (side ? middle + GAP + packed[1][0][k] * LANE : middle - (packed[0][0][k] + 1) * LANE);
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ class: "links", width, height: bottom, viewBox: "0 0 " + width + " " + bottom, "aria-hidden": "true" })) svg.setAttribute(name, value);
  const centre = ([left, right]) => (left + right) / 2;
  const lines = new Map();
  for (const event of sides[1]) {
    if (!event.link || !event.link[3]) continue;
    const path = document.createElementNS(svg.namespaceURI, "path");
    const reference = event.link[0];
    const [from, to] = [centre(spans[0][reference]), centre(spans[1][event.k])];
    const [y, end] = [top(sides[0][reference]) + LANE - 4, top(event)];
    path.setAttribute("d", `M${from} ${y}C${from} ${middle + GAP / 2} ${to} ${middle + GAP / 2} ${to} ${end}`);
    svg.append(path);
    lines.set(event, path);
  }
  const choose = (event) => {
    for (const [other, line] of lines) line.classList.toggle("now", other === event || (event.side === 0 && other.link[0] === event.k));
    show(event);
  };
  const bars = events.map((event) => {
    const [left, right] = spans[event.side][event.k];
    const bar = element("button", {
      type: "button", class: "event " + kindOf(event) + (sought & event.errors ? " sought" : "") + (right - left < NARROW ? " narrow" : ""), tabindex: "-1", "aria-label": eventInWords(meta, event),
      on: { focus: () => choose(event), pointerenter: () => choose(event), click: () => choose(event) },
    }, element("bdi", {}, visible(event.at[2].slice(0, 200))));
    Object.assign(bar.style, { left: left + "px", width: right - left + "px", top: top(event) + "px" });
    return bar;
  });
  const track = (side, name) => {
    const own = bars.filter((_, k) => events[k].side === side);
    const box = element("div", { class: "track", role: "group", "aria-label": name + ": " + own.length + ", use the arrow keys" }, ...own);
    if (own.length) own[0].tabIndex = 0;
    box.addEventListener("keydown", (press) => {
      const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[press.key];
      if (by === undefined) return;
      press.preventDefault();
      const to = own[Math.max(0, Math.min(own.length - 1, own.indexOf(document.activeElement) + by))];
      own.forEach((bar) => { bar.tabIndex = bar === to ? 0 : -1; });
      to.focus();
    });
    return box;
  };
  const step = STEPS.find((step) => x(low + step) - x(low) >= 64) || (high - low) / 4 || 1;
  const ticks = [];
  for (let n = Math.ceil(low / step); n * step <= high && ticks.length < 2000; n += 1) {
    const tick = element("span", { class: "tick" }, clock(n * step));
    tick.style.left = x(n * step) + "px";
    ticks.push(tick);
  }
  const axis = element("div", { class: "axis", "aria-hidden": "true" }, ...ticks);
  const inner = element("div", { class: "timeline s" + (colour % 8) }, svg, track(0, "References"), track(1, "Predictions"), axis);
  inner.style.width = width + "px";
  inner.style.height = bottom + 26 + "px";
  return inner;
}

// The look of an event.
function kindOf({ side, link, errors }) {
  if (side === 0) return errors ? "missed" : "found";
  if (errors & 16) return "elsewhere";
  if (errors & 8) return "wrong";
  return link && link[3] ? "matched" : "loose";
}

function nameOf({ side, k }) {
  return (side ? "Prediction " : "Reference ") + (k + 1);
}

function errorsOf(meta, { errors }) {
  return meta.errors.filter((_, bit) => errors & (1 << bit)).map(([label]) => label);
}

function spanInWords({ at: [start, end] }) {
  return clock(start) + " to " + clock(end);
}

function eventInWords(meta, event) {
  const errors = errorsOf(meta, event);
  return nameOf(event) + ", " + spanInWords(event) + ": " + visible(event.at[2]) + (errors.length ? " (" + errors.join(", ") + ")" : "");
}

// What is said of the event at which a reader points: its words, and those of the events on the other side.
function eventParts(meta, events, event) {
  const others = events.filter((other) => (event.side ? other.side === 0 && event.link && other.k === event.link[0] : other.side === 1 && other.link && other.link[0] === event.k))
    .sort((a, b) => (b.link ? b.link[3] - a.link[3] : 0));
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || [];
  const said = (text, other) => {
    const [mine, theirs] = [words(text), new Set(other.flatMap(words))];
    return element("p", { class: "text", dir: "auto" }, marked(text, mine, mine.map((word) => (theirs.has(word) ? "g1" : ""))));
  };
  const card = (one, texts, link) => element("div", { class: "card" },
    element("p", { class: "name" }, element("b", {}, nameOf(one)), " ", spanInWords(one), " ",
      ...errorsOf(meta, one).map((label) => element("span", { class: "error" }, label))),
    said(one.at[2], texts),
    link && element("p", { class: "numbers" }, element("span", {}, link[3] ? "matched" : "overlaps, not matched"),
      element("span", {}, "overlap ", element("b", {}, score(link[1]))), element("span", {}, "METEOR ", element("b", {}, score(link[2])))));
  const more = others.length > 6 ? element("p", { class: "sub" }, "and " + (others.length - 6) + " more predictions") : null;
  return [
    card(event, others.map((other) => other.at[2]), event.link),
    ...others.slice(0, 6).map((other) => card(other, [event.at[2]], other.link)), more,
  ].filter((part) => part !== null);
}
