// A list of any length; the page holds only its visible rows.

const ROW = 58;

class VirtualList {
  constructor(box, render, choose) {
    this.box = box;
    this.render = render;
    this.choose = choose;
    this.order = new Uint32Array(0);
    this.at = -1;
    this.shownFrom = -1;
    this.shownTo = -1;
    this.spacer = element("div", { class: "spacer", role: "presentation" });
    this.window = element("div", { class: "window", role: "presentation" });
    this.spacer.append(this.window);
    box.append(this.spacer);
    box.addEventListener("scroll", () => requestAnimationFrame(() => this.draw(false)), { passive: true });
    box.addEventListener("keydown", (event) => this.key(event));
    box.addEventListener("click", (event) => {
      const row = event.target.closest("[data-at]");
      if (row) this.go(Number(row.dataset.at));
    });
    new ResizeObserver(() => this.draw(false)).observe(box);
  }

  show(order, keep) {
    const image = this.at >= 0 ? this.order[this.at] : undefined;
    this.order = order;
    this.at = keep && image !== undefined ? order.indexOf(image) : -1;
    this.spacer.style.height = order.length * ROW + "px";
    if (!keep) this.box.scrollTop = 0;
    this.draw(true);
  }

  draw(anew) {
    const from = Math.max(0, Math.floor(this.box.scrollTop / ROW) - 6);
    const to = Math.min(this.order.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + 6);
    if (!anew && from === this.shownFrom && to === this.shownTo) return;
    [this.shownFrom, this.shownTo] = [from, to];
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
    this.window.style.transform = "translateY(" + from * ROW + "px)";
    this.window.replaceChildren(...rows);
    if (this.at >= from && this.at < to) this.box.setAttribute("aria-activedescendant", "row-" + this.at);
    else this.box.removeAttribute("aria-activedescendant");
  }

  go(at) {
    if (!this.order.length) return;
    this.at = Math.max(0, Math.min(this.order.length - 1, at));
    const top = this.at * ROW;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + ROW > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + ROW - this.box.clientHeight;
    this.draw(true);
    this.choose(this.order[this.at]);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.box.clientHeight / ROW) - 1);
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity }[event.key];
    if (by === undefined && event.key !== "Enter") return;
    event.preventDefault();
    if (event.key === "Enter") this.go(this.at < 0 ? 0 : this.at);
    else this.go(by === Infinity ? this.order.length - 1 : by === -Infinity ? 0 : this.at < 0 ? 0 : this.at + by);
  }
}
