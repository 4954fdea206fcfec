// The page of captions: a live count and the broken rules, drafts that are never lost, and keys that respect input methods.
"use strict";

const form = document.getElementById("caption");
const field = form.elements.text;
const { domains, rules } = JSON.parse(form.dataset.rules);
const kept = document.getElementById("kept");

// The same checks as on the server: tests/data/lint.json is for both.
const HAN = /[\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{323af}]/u;
const INVISIBLE = /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/gu;
const clean = (text) =>
  text.replace(INVISIBLE, "").replace(/[\s\x85]/gu, " ").replace(/\p{Cc}/gu, "").normalize("NFC").split(" ").filter(Boolean).join(" ");
const count = (text) => ({
  characters: [...text.replaceAll(" ", "")].length,
  han: [...text].filter((c) => HAN.test(c)).length,
  words: text.split(" ").filter((word) => /[\p{Alphabetic}\p{N}]/u.test(word)).length,
});
const ADDRESS = new RegExp(`://|^www\\.|[a-z0-9]@[a-z0-9]|[a-z0-9]\\.(?:${domains.join("|")})(?![a-z0-9])`);
const FINDS = {
  "no-letters": (text) => !/\p{Alphabetic}/u.test(text),
  repetition: (text, counts) =>
    counts.characters >= 10 && new Set(text.toLowerCase().match(/\p{Alphabetic}/gu) ?? []).size < 5,
  han: (text, counts) => counts.han > 0,
  address: (text) => (text.match(/[!-~]+/g) ?? []).some((part) => ADDRESS.test(part.toLowerCase())),
  telephone: (text) => /(?:[0-9０-９][ \-.()+]*){7}/u.test(text),
  quotes: (text) => /["“”「」『』]/u.test(text),
};
const isBroken = (rule, text, counts) => {
  if (rule.count) {
    const n = counts[rule.count];
    return (rule.below !== null && n < rule.below) || (rule.above !== null && n > rule.above);
  }
  if (rule.finds) return FINDS[rule.finds](text, counts);
  return rule.openings.some((opening) => text.toLowerCase().startsWith(opening));
};
const broken = (text, language) => {
  const counts = count(text);
  const all = rules.filter(
    (rule) => (rule.languages.length === 0 || rule.languages.includes(language)) && isBroken(rule, text, counts),
  );
  const refused = all.filter((rule) => rule.level === "refuse" && rule.count).map((rule) => rule.count);
  return all.filter((rule) => rule.level === "refuse" || !refused.includes(rule.count));
};
// For tests.
form.lint = (text, language) => broken(clean(text), language).map((rule) => rule.code);

const check = () => {
  const language = form.elements.language.value;
  const text = clean(field.value);
  const counts = count(text);
  const pattern = language === "zh" ? form.dataset.han : form.dataset.words;
  document.getElementById("count").textContent = pattern.replace("{}", language === "zh" ? counts.han : counts.words);
  const items = text === "" ? [] : broken(text, language);
  document.getElementById("broken").replaceChildren(
    ...items.map((rule) => {
      const item = document.createElement("li");
      item.className = rule.level;
      item.textContent = rule.text;
      return item;
    }),
  );
};

// Drafts: in this browser at each key, on the server after a pause and when the page is left.
const KEY = `draft:${form.dataset.image}`;
const LAST = "draft:handed-in";
let saved = field.value;
let timer;
const local = {
  get: () => {
    try {
      return JSON.parse(localStorage.getItem(KEY));
    } catch {
      return null;
    }
  },
  set: (text) => {
    try {
      localStorage.setItem(KEY, JSON.stringify({ text, at: Date.now() }));
    } catch {
      // A browser that keeps nothing still has the server.
    }
  },
  forget: () => {
    try {
      localStorage.removeItem(KEY);
    } catch {
      // As above.
    }
  },
};
const post = (text) => {
  const body = new URLSearchParams({ image: form.dataset.image, text, action: "draft" });
  // `form.action` would be the buttons of this name.
  return fetch(form.getAttribute("action"), { method: "POST", body, headers: { Accept: "application/json" }, keepalive: true });
};
const save = async () => {
  if (field.value === saved) return;
  const text = field.value;
  try {
    const answer = await post(text);
    // Without a session, the answer is the form to sign in.
    if (answer.status !== 204) throw new Error(answer.statusText);
    saved = text;
    if (field.value === text) local.forget();
    kept.textContent = form.dataset.saved;
  } catch {
    kept.textContent = form.dataset.offline;
  }
};
try {
  if (new URLSearchParams(location.search).get("done") === "caption") localStorage.removeItem(localStorage.getItem(LAST));
} catch {
  // As above.
}
const before = local.get();
// What is kept here is what the server lacks.
if (before?.text) field.value = before.text;
field.addEventListener("input", () => {
  local.set(field.value);
  unsent.forget(form.dataset.image);
  kept.textContent = "";
  clearTimeout(timer);
  timer = setTimeout(save, 2000);
  check();
});
form.elements.language.addEventListener("change", check);
document.addEventListener("visibilitychange", () => {
  if (document.visibilityState === "hidden") save();
});
window.addEventListener("online", save);
// The reservation lasts while somebody looks at the page.
setInterval(() => {
  if (document.visibilityState === "visible" && field.value !== "") {
    saved = null;
    save();
  }
}, 5 * 60000);

// Enter writes a new line, or ends a composition; only Ctrl+Enter outside of one hands in.
field.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(form.querySelector("button.main"));
  }
});
let isReached = false;
const handIn = async (button) => {
  try {
    // A draft tells whether the server can be reached, and is there if the connection is lost in between.
    await post(field.value);
  } catch {
    const { image, language, text } = form.elements;
    const isRefused = broken(clean(text.value), language.value).some((rule) => rule.level === "refuse");
    const caption = { image: image.value, language: language.value, text: text.value };
    kept.textContent = !isRefused && unsent.keep(form.getAttribute("action"), caption) ? form.dataset.unsent : form.dataset.offline;
    return;
  }
  isReached = true;
  form.requestSubmit(button);
};
document.addEventListener("caption-sent", ({ detail }) => {
  if (detail === form.dataset.image) location.assign(`${form.getAttribute("action")}?done=caption`);
});
form.addEventListener("submit", (event) => {
  clearTimeout(timer);
  unsent.forget(form.dataset.image);
  if (event.submitter?.value === "draft") return;
  if (!isReached) {
    event.preventDefault();
    handIn(event.submitter);
    return;
  }
  try {
    localStorage.setItem(LAST, KEY);
  } catch {
    // As above.
  }
});

// The next picture is loaded while this one is described.
if (form.dataset.next) {
  form.elements.next.value = form.dataset.next;
  const next = new Image();
  next.src = `/media/${form.dataset.next}`;
}

check();
// Whoever comes back goes on at the end.
field.setSelectionRange(field.value.length, field.value.length);
if (matchMedia("(pointer: fine)").matches) field.focus();
