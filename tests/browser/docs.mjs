// Tests the documentation as a site: every kind of page at two widths, light and dark: nothing wider than the window, nothing
// that axe finds, nothing fetched from elsewhere, no complaint of the browser; the search finds words.
//
//   node docs.mjs BROWSER MODULES SITE [SCREENSHOTS]
//
// With CAPEVAL_ALL_PAGES=1, it opens every page instead of one of each kind.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { PATIENCE, launch } from "./support.mjs";

const [browserPath, modules, folder, screenshots] = process.argv.slice(2);
const { browser, require } = await launch(browserPath, modules);
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf-8");

const kinds = [
  "", "start/command-line/", "gallery/", "guides/compare/", "guides/page/", "reference/metrics/", "reference/metrics/cider-d/",
  "reference/cli/score/", "reference/python/scoring/", "why/two-papers/", "zh/submitting/",
];

const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png" };
const server = createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url, "http://site").pathname);
  try {
    const file = join(folder, path.endsWith("/") ? `${path}index.html` : path);
    const bytes = readFileSync(file);
    response.writeHead(200, { "content-type": `${types[extname(file)] ?? "application/octet-stream"}; charset=utf-8` });
    response.end(bytes);
  } catch {
    response.writeHead(404);
    response.end();
  }
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const site = `http://127.0.0.1:${server.address().port}/`;

function all(below = "") {
  return readdirSync(join(folder, below), { withFileTypes: true }).flatMap((entry) => {
    const path = `${below}${entry.name}`;
    if (entry.isDirectory()) return all(`${path}/`);
    return entry.name === "index.html" ? [below] : [];
  });
}

const complaints = [];
const wanted = process.env.CAPEVAL_ALL_PAGES === "1" ? all() : kinds;
try {
  for (const [width, height] of [[1280, 800], [390, 844]]) {
    for (const colorScheme of ["light", "dark"]) {
      const room = await browser.newContext({ viewport: { width, height }, colorScheme, reducedMotion: "reduce" });
      room.setDefaultTimeout(PATIENCE);
      const page = await room.newPage();
      page.on("request", (request) => {
        if (!request.url().startsWith(site) && !request.url().startsWith("data:") && !request.url().startsWith("blob:")) complaints.push(`fetches ${request.url()}`);
      });
      page.on("pageerror", (error) => complaints.push(`${page.url()}: ${error}`));
      page.on("console", (message) => {
        if (message.type() === "error") complaints.push(`${page.url()}: ${message.text()}`);
      });
      for (const path of wanted) {
        await page.goto(site + path, { waitUntil: "load" });
        const name = `${path || "home"} ${width} ${colorScheme}`;
        const beyond = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (beyond > 0) complaints.push(`${name}: ${beyond} pixels wider than the window`);
        await page.evaluate(axe);
        const found = await page.evaluate(() => globalThis.axe.run({ resultTypes: ["violations"] }));
        for (const violation of found.violations) {
          complaints.push(`${name}: ${violation.id}: ${violation.help}: ${violation.nodes.slice(0, 3).map((node) => `${node.target} ${node.html.slice(0, 120)}`).join(" · ")}`);
        }
        if (screenshots) {
          const file = `docs-${(path || "home").replaceAll("/", "-")}-${width}-${colorScheme}.png`.replaceAll("--", "-");
          await page.screenshot({ path: join(screenshots, file), fullPage: path === "" });
        }
      }
      await room.close();
    }
  }
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 } })).newPage();
  page.setDefaultTimeout(PATIENCE);
  await page.goto(site);
  // The script that searches is there some time after the page: what comes before it is lost.
  const [field, found] = [page.locator("input[placeholder]").last(), page.getByText(/^\d+ results$/)];
  const until = Date.now() + PATIENCE;
  while (!(await found.isVisible())) {
    assert.ok(Date.now() < until, "the search finds nothing");
    if (await field.isVisible()) await field.fill("signature");
    else await page.locator(".md-search__button").click();
    await page.evaluate(() => new Promise((done) => setTimeout(done, 50)));
  }
  if (screenshots) await page.screenshot({ path: join(screenshots, "docs-search.png") });
  // Printed, it has neither navigation nor a dark ground.
  await page.goto(`${site}guides/compare/`);
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  assert.equal(await page.locator("nav").first().isVisible(), false, "no navigation on paper");
} finally {
  await browser.close();
  server.close();
}
if (complaints.length > 0) {
  console.error([...new Set(complaints)].map((line) => line.replaceAll(/\s+/g, " ")).join("\n"));
  process.exit(1);
}
