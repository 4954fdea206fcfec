// Visits every page of the demonstration as each kind of person, in both languages, light and dark, wide and narrow: axe has
// no findings, nothing is wider than the window, and no page is left out.
//
// node everywhere.mjs BROWSER MODULES SERVER SOURCES [SCREENSHOTS]: SERVER is the program, SOURCES the folder `src` of its
// crate, whose routes are to be visited, and MODULES the folder that holds playwright-core and axe-core.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import * as support from "./support.mjs";

const [browserPath, modules, program, sources, screenshots] = process.argv.slice(2);
const { site, complaints, require, start, room, person, views, close } = await support.open({ browserPath, modules, program, command: "demo", word: "demonstration" });
const axe = readFileSync(require.resolve("axe-core"), "utf8");

// The pages of the router: what is neither for programs nor a file.
const FILES = ["/healthz", "/readyz", "/metrics", "/openapi.json", "/language/{tag}", "/assets/{version}/{name}", "/account/contributions.zip", "/media/{id}", "/media/{id}/small", "/submissions/{id}/file", "/c/{slug}/releases/{number}/{name}", "/b/{slug}/{phase}/files/{name}", "/b/{slug}/logo", "/b/{slug}/accent.css"];
const isPage = (path) => !path.startsWith("/api/") && !FILES.includes(path) && !/\.(svg|csv|zip|toml|jsonl?|bib|cff|yaml)$/.test(path);
const routes = readdirSync(sources, { recursive: true })
  .filter((name) => /^(site|benchmarks|collections|server)\/src\/.*\.rs$/.test(name))
  .flatMap((name) => [...readFileSync(join(sources, name), "utf8").matchAll(/\bget\(\s*"(\/[^"]*)"/g)].map(([, path]) => path))
  .filter(isPage);
const patterns = [...new Set(routes)].map((path) => ({ path, parts: path.split("/") }));
// The route of an address: that with the most parts that are not names of things.
const routeOf = (address) => {
  const parts = new URL(address).pathname.split("/");
  const fits = patterns.filter((route) => route.parts.length === parts.length && route.parts.every((part, k) => part === parts[k] || (part.startsWith("{") && parts[k] !== "")));
  const fixed = (route) => route.parts.filter((part) => !part.startsWith("{")).length;
  return fits.sort((a, b) => fixed(b) - fixed(a))[0]?.path;
};

// What the demonstration does not have: providers of accounts, announcements and questions; past.mjs visits these.
const ABSENT = ["/sign-in/with/{provider}", "/sign-in/with/{provider}/done", "/sign-in/finish", "/b/{slug}/announcements/{id}", "/b/{slug}/questions/{question}"];

// How many addresses of a route each person visits: one thing of a kind may look unlike another.
const EACH = 2;

// Addresses that no page links to: those that are in letters, and the first steps of what begins elsewhere.
const UNLINKED = ["/forgotten", "/register", "/join/none", "/reset/none", "/address/none", "/teams/join/none", "/b/everyday/validation/agreement", "/b/everyday/validation/compare", "/b/everyday/validation/judge", "/b/everyday/validation/host/judging", "/b/everyday/participate", "/b/everyday/validation/leaderboard/embed", "/collections", "/nowhere"];

const seen = new Map();
async function walk(name, options, storageState) {
  const { locale, colorScheme, viewport } = options;
  // axe needs a context without the policy of pages, which forbids foreign scripts.
  const context = await room({ ...options, bypassCSP: true, storageState });
  const page = await context.newPage();
  const waiting = ["/", ...UNLINKED].map((path) => site + path);
  const known = new Set(waiting);
  const visits = new Map();
  const faults = [];
  while (waiting.length > 0) {
    const address = waiting.shift();
    const route = routeOf(address) ?? "(no route)";
    const number = (visits.get(route) ?? 0) + 1;
    if (number > (route === "(no route)" ? 1 : EACH)) continue;
    visits.set(route, number);
    const answer = await page.goto(address);
    if (!answer.headers()["content-type"]?.startsWith("text/html")) continue;
    // Registration by invitation has a page that says so.
    if (answer.status() < 404) seen.set(route, [...(seen.get(route) ?? []), name]);
    const label = `${name} ${new URL(address).pathname} ${locale.slice(0, 2)} ${colorScheme} ${viewport.width}`;
    if (answer.status() >= 500) faults.push(`${label}: ${answer.status()}`);
    if (screenshots) {
      const file = `${name}${new URL(address).pathname.replaceAll("/", "_").slice(0, 60)}-${locale.slice(0, 2)}-${colorScheme}-${viewport.width}.png`;
      await page.screenshot({ path: join(screenshots, file), fullPage: true });
    }
    if (await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)) faults.push(`${label} is wider than the window`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
    faults.push(...violations.map(({ id, nodes }) => `${label}: ${id}: ${nodes.slice(0, 2).map((node) => `${node.html.slice(0, 160)} ${node.any[0]?.message ?? ""}`).join(" | ")}`));
    const links = await page.evaluate(() => [...document.querySelectorAll("a[href]:not([download])")].map((link) => link.href));
    for (const link of links) {
      const { origin, pathname, search } = new URL(link);
      const place = origin + pathname + search;
      if (origin !== site || known.has(place) || !routeOf(place) || /format=/.test(search)) continue;
      known.add(place);
      waiting.push(place);
    }
  }
  await context.close();
  assert.deepEqual(faults, []);
}

// Each person meets another window; all of them together meet both languages, both schemes and both widths.
const wide = { width: 1280, height: 900 };
const narrow = { width: 390, height: 844 };
const people = [
  ["visitor", { locale: "zh-CN", colorScheme: "light", viewport: narrow }],
  ["visitor", { locale: "en-US", colorScheme: "dark", viewport: wide }],
  ["ada", { locale: "en-US", colorScheme: "light", viewport: wide }],
  ["dina", { locale: "zh-CN", colorScheme: "dark", viewport: narrow }],
  ["host", { locale: "zh-CN", colorScheme: "light", viewport: wide }],
  ["admin", { locale: "en-US", colorScheme: "dark", viewport: narrow }],
];

const steps = {
  async "the demonstration fills itself"() {
    const context = await room();
    const page = await context.newPage();
    // Entries are scored, and the release is made, while the site is served.
    await page.goto(site);
    const isFull = async () => (await page.locator(".card .leader").count()) >= 3 && (await page.locator(".card").count()) >= 5;
    for (const end = Date.now() + support.PATIENCE; !(await isFull()); await page.reload()) assert.ok(Date.now() < end, "no entries");
    await context.close();
  },
  async "results image by image work, and can do nothing to the site"() {
    for (const [name, benchmark, isExplained] of [["ada", "everyday/validation", true], ["emil", "huashuo/validation", false]]) {
      const page = await person(name);
      // What a browser has to say against a page is said on its console.
      const said = [];
      page.on("console", (message) => said.push(message.text()));
      page.on("pageerror", (error) => said.push(String(error)));
      await page.goto(`${site}/submissions`);
      const [of, phase] = benchmark.split("/");
      const links = await page.locator("main a[href^='/submissions/']").evaluateAll((all) => all.map((link) => link.href));
      for (const link of links) {
        await page.goto(link);
        if (await page.locator(`main a[href='/b/${of}/${phase}/leaderboard']`).count()) break;
      }
      await page.locator("#images form button").click();
      // The page follows the job by itself.
      await page.locator("#images a.button").first().click();
      await page.locator("html[data-ready=yes]").waitFor();
      assert.equal(await page.locator(".list [role=option]").count() > 3, true);
      assert.match(await page.locator("label:has-text('Sort by') select option:checked").textContent(), /^CIDEr-D/);
      await page.locator(".list [role=option]").nth(2).click();
      await page.locator(".detail .card .text").first().waitFor();
      assert.equal(await page.locator(".detail .references li").count() > 0, isExplained);
      assert.equal(await page.locator(".detail .evidence").count() > 0, isExplained);
      assert.equal(await page.getByText("search references").count() > 0, isExplained);
      await page.locator("#theme").click();
      assert.deepEqual(said, []);
      if (screenshots) await page.screenshot({ path: join(screenshots, `images-${phase}-${isExplained}.png`) });
      const reached = await page.evaluate(async () => {
        const attempts = [() => document.cookie, () => localStorage.length, () => fetch("/api/v1/me"), () => fetch("/account", { mode: "no-cors" })];
        const done = await Promise.all(attempts.map(async (attempt) => { try { return [await attempt()]; } catch { return []; } }));
        return [self.origin, ...done.flat()];
      });
      assert.deepEqual(reached, ["null"]);
      await page.context().close();
    }
  },
  ...Object.fromEntries(people.map(([name, options]) => [
    `pages are in order for ${name}: ${options.locale}, ${options.colorScheme}, ${options.viewport.width} wide`,
    async () => {
      let storageState;
      if (name !== "visitor") {
        const page = await person(name);
        storageState = await page.context().storageState();
        await page.context().close();
      }
      await walk(name, options, storageState);
    },
  ])),
  async "no page is left out"() {
    // Links that are not known answer with the page of a fault, which was visited.
    const left = patterns.map((route) => route.path).filter((path) => !seen.has(path) && !ABSENT.includes(path) && !path.includes("{secret}"));
    assert.deepEqual(left, []);
    assert.ok(patterns.length > 40, `${patterns.length} routes`);
  },
};

await support.drive({ start, complaints, views, close }, steps);
