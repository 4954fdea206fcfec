// The page: theme, charts, and the browser of images or videos.

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
  const select = choice("System", systems.slice(0, groups.length), show);
  box.before(element("div", { class: "controls" }, select));
  groups.forEach((group) => group.querySelector("h4").remove());
  show(0);
}

function choice(label, names, changed) {
  const select = element("select", { on: { change: () => changed(Number(select.value)) } },
    ...names.map((name, k) => element("option", { value: k }, visible(name))));
  return element("label", {}, element("span", {}, label), select);
}

function check(label, changed) {
  const input = element("input", { type: "checkbox", on: { change: () => changed(input.checked) } });
  return element("label", { class: "check" }, input, element("span", {}, label));
}

// Searches captions and ids, a moment after the last key.
function searchBox(changed) {
  const input = element("input", { type: "search", placeholder: "word, phrase or id", "aria-label": "Search captions and ids" });
  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => changed(input.value), 120);
  });
  return input;
}

function fail(error) {
  const root = document.getElementById("browser");
  if (root) root.append(element("p", { class: "empty", role: "alert" }, "This cannot be shown: " + error.message));
  console.error(error);
}

themes();
block("meta").then((meta) => {
  if (!meta) return null;
  if (meta.of === "videos") return videos(meta);
  scatters(meta.systems);
  return browser(meta);
}).catch(fail);
