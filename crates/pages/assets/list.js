// A list of any length, in one column or several; the page holds only its visible rows.

class VirtualList {
  constructor(box, render, choose) {
    this.box = box;
    this.render = render;
    this.choose = choose;
    this.order = new Uint32Array(0);
    this.at = -1;
    // The height of a row, and the least width of a column; `null` for a single column.
    this.height = 58;
    this.width = null;
    this.shown = "";
    this.spacer = element("div", { class: "spacer", role: "presentation" });
    this.window = element("div", { class: "window", role: "presentation" });
    this.spacer.append(this.window);
    box.append(this.spacer);
    box.addEventListener("scroll", () => requestAnimationFrame(() => this.draw()), { passive: true });
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("click", (event) => {
      const row = event.target.closest("[data-at]");
      if (row) this.go(Number(row.dataset.at));
    });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  get columns() {
    return this.width ? Math.max(1, Math.floor(this.box.clientWidth / this.width)) : 1;
  }

  // Shows images in this order with row `at` selected; -1 selects none.
  show(order, at) {
    this.order = order;
    this.shown = "";
    this.select(at);
  }

  select(at) {
    this.at = at;
    this.draw();
    const top = Math.floor(at / this.columns) * this.height;
    if (at <= 0) this.box.scrollTop = 0;
    else if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.height > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + this.height - this.box.clientHeight;
    this.draw();
  }

  draw() {
    const columns = this.columns;
    this.spacer.style.height = Math.ceil(this.order.length / columns) * this.height + "px";
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 4);
    const from = first * columns;
    const to = Math.min(this.order.length, (Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 4) * columns);
    const shown = [from, to, columns, this.at].join();
    if (shown === this.shown) return;
    this.shown = shown;
    const rows = [];
    for (let at = from; at < to; at += 1) {
      const row = this.render(this.order[at]);
      row.id = "row-" + at;
      row.dataset.at = at;
      row.setAttribute("role", "option");
      row.setAttribute("aria-setsize", this.order.length);
      row.setAttribute("aria-posinset", at + 1);
      row.setAttribute("aria-selected", at === this.at ? "true" : "false");
      rows.push(row);
    }
    this.window.style.transform = "translateY(" + first * this.height + "px)";
    this.window.style.gridTemplateColumns = "repeat(" + columns + ", minmax(0, 1fr))";
    this.window.replaceChildren(...rows);
    if (this.at >= from && this.at < to) this.box.setAttribute("aria-activedescendant", "row-" + this.at);
    else this.box.removeAttribute("aria-activedescendant");
  }

  go(at) {
    if (!this.order.length) return;
    this.select(Math.max(0, Math.min(this.order.length - 1, at)));
    this.choose(this.order[this.at]);
  }

  key(event) {
    const columns = this.columns;
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1) * columns;
    const steps = { ArrowDown: columns, ArrowUp: -columns, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity, Enter: 0 };
    if (columns > 1) Object.assign(steps, { ArrowRight: 1, ArrowLeft: -1 });
    const by = steps[event.key];
    if (by === undefined) return;
    event.preventDefault();
    if (by === Infinity) this.go(this.order.length - 1);
    else this.go(by === -Infinity || this.at < 0 ? 0 : this.at + by);
  }
}

// The head of the opened item: its title, and steps to the items before and after it in the list.
function headOf(list, title) {
  const go = (text, by) => element("button", { type: "button", disabled: !list.order.length || list.at + by < 0 || list.at + by >= list.order.length, on: { click: () => list.go(list.at + by) } }, text);
  const close = element("button", { type: "button", class: "close", on: { click: () => { document.body.classList.remove("reading"); list.box.focus(); } } }, "Back to the list");
  return element("div", { class: "bars" }, title, element("span", { class: "nav" }, close, go("Previous", -1), go("Next", 1)));
}
