// Pages work without this script; it adds what is pleasant: lists that filter while one types, and states that follow.
"use strict";

// Lists: <input data-filter="id of a table"> hides rows without the text.
for (const input of document.querySelectorAll("input[data-filter]")) {
  const rows = () => document.querySelectorAll(`#${input.dataset.filter} tbody tr`);
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    for (const row of rows()) row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
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
      }
      if (!fresh.dataset.live) return;
    } catch {
      // The server may be starting again.
    }
  }
};
for (const element of document.querySelectorAll("[data-live]")) follow(element);

// Questions: <button data-ask="…"> asks before it does what cannot be undone.
document.addEventListener("submit", (event) => {
  const question = event.submitter?.dataset.ask;
  if (question && !window.confirm(question)) event.preventDefault();
});

// Keys: <button data-key="4"> is pressed by its key, unless somebody types.
document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest?.("textarea, select, input:not([type=checkbox])")) return;
  const button = [...document.querySelectorAll("button[data-key]")].find(({ dataset }) => dataset.key === event.key);
  if (button) button.click();
});
