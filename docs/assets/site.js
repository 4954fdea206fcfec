// What the theme leaves open for people who use a keyboard or a screen reader.
(() => {
  const mend = () => {
    // Wide tables scroll with the arrow keys.
    for (const region of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
      region.tabIndex = 0;
    }
    // The navigations of a page have names of their own, the buttons of a block of code among them.
    document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((buttons) => {
      buttons.setAttribute("aria-label", `Code ${[...document.querySelectorAll("nav.md-code__nav")].indexOf(buttons) + 1}`);
    });
    document.querySelector(".md-nav--primary")?.setAttribute("aria-label", "Pages");
  };
  mend();
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
})();
