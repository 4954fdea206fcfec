// Pages work without this script; it adds what is pleasant: lists that filter while one types, and states that follow.
"use strict";

// Lists: <input data-filter="id of a table or list"> hides rows without the text.
for (const input of document.querySelectorAll("input[data-filter]")) {
  const rows = () => document.querySelectorAll(`#${input.dataset.filter} :is(tbody tr, li)`);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of rows()) row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
  });
}

// Forms: what a browser finds wrong is seen, also in a part that is closed.
document.addEventListener("invalid", ({ target }) => {
  for (let part = target.closest("details"); part; part = part.parentElement.closest("details")) part.open = true;
}, true);

// Files: <label class="drop"> takes what is dropped on it, not only on its field.
for (const label of document.querySelectorAll("label.drop")) {
  label.addEventListener("dragover", (event) => event.preventDefault());
  label.addEventListener("drop", (event) => {
    event.preventDefault();
    label.querySelector("input").files = event.dataTransfer.files;
  });
}

// States: <… data-live="/address"> is replaced by what the address gives, until it no longer asks for that.
const follow = async (element) => {
  for (let wait = 700; element?.dataset.live; wait = Math.min(wait * 1.2, 5000)) {
    await new Promise((done) => setTimeout(done, wait));
    try {
      const answer = await fetch(element.dataset.live, { headers: { Accept: "text/html" } });
      if (!answer.ok) continue;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById(element.id);
      if (!fresh) return;
      if (fresh.innerHTML !== element.innerHTML) {
        element.replaceWith(fresh);
        element = fresh;
        renew(page, fresh.id);
      }
      if (!fresh.dataset.live) return;
    } catch {
      // The server may be starting again.
    }
  }
};
for (const element of document.querySelectorAll("[data-live]")) follow(element);

// What changes with a state: <… data-beside="id of the state">, which leaves alone what somebody is typing elsewhere.
const renew = (page, id) => {
  for (const old of document.querySelectorAll(`[data-beside="${id}"]`)) {
    const fresh = page.getElementById(old.id);
    if (!fresh || fresh.innerHTML === old.innerHTML) continue;
    old.replaceWith(fresh);
    for (const element of fresh.querySelectorAll("[data-live]")) follow(element);
  }
};

// Texts to copy: <pre data-copy="Copy" data-copied="Copied"> gets a button, where browsers allow it.
for (const text of navigator.clipboard ? document.querySelectorAll("pre[data-copy]") : []) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = text.dataset.copy;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = text.dataset.copied;
    setTimeout(() => (button.textContent = text.dataset.copy), 2000);
  });
  text.after(button);
}

// Keys: <button data-key="4"> is pressed by its key, unless somebody types.
document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest?.("textarea, select, input:not([type=checkbox])")) return;
  const button = [...document.querySelectorAll("button[data-key]")].find(({ dataset }) => dataset.key === event.key);
  if (button) button.click();
});

// Pictures: a click or a tap shows <figure id="picture"> in its own size, around the place that was touched.
const figure = document.getElementById("picture");
const link = figure?.querySelector("a");
link?.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const box = link.firstElementChild.getBoundingClientRect();
  const [x, y] = event.detail === 0 ? [0.5, 0.5] : [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  const isLarge = figure.classList.toggle("large");
  link.setAttribute("aria-pressed", String(isLarge));
  if (isLarge) figure.scrollTo(figure.scrollWidth * x - figure.clientWidth / 2, figure.scrollHeight * y - figure.clientHeight / 2);
});
link?.setAttribute("role", "button");
link?.setAttribute("aria-pressed", "false");
