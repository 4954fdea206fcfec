// Opens the page of a result of dense captions: videos are searched, sorted and filtered by error, events are drawn on an
// axis of time and read by pointer and keyboard, hostile captions stay text, and axe finds no violations.
//
// node events.mjs BROWSER MODULES PAGE [SCREENSHOTS]: PAGE holds the result of xtask/src/event_page.rs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PATIENCE, launch, run } from "./support.mjs";

const [browserPath, modules, path, screenshots] = process.argv.slice(2);
const { browser, require } = await launch(browserPath, modules);
const axe = readFileSync(require.resolve("axe-core"), "utf8");
const complaints = [];
const WIDE = { viewport: { width: 1280, height: 900 } };
const SMALL = { viewport: { width: 390, height: 844 }, hasTouch: true };

async function open(options, hash = "") {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => { if (!/^(file|data):/.test(request.url())) complaints.push("a request: " + request.url()); });
  await page.goto(pathToFileURL(path).href + hash);
  await page.waitForSelector("html[data-ready]");
  return page;
}

const count = (page) => page.locator("output.count").textContent();
const field = (page, label) => page.locator(".controls label", { hasText: label }).locator("select");
const said = (page, words) => page.waitForFunction((words) => document.querySelector("output.count").textContent === words, words);
const overflows = (page) => page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

const failed = await run({
  async "videos are listed, worst first, and searched"() {
    const page = await open(WIDE);
    assert.equal(await count(page), "300 videos");
    // The first system lacks the last video.
    assert.equal(await page.locator(".row .id").first().textContent(), "v_299");
    const values = (await page.locator(".row .value").allTextContents()).map(Number);
    assert.deepEqual(values, [...values].sort((a, b) => a - b));
    await page.locator("input[type=search]").fill("v_12");
    await said(page, "11 of 300 videos");
    await page.locator("input[type=search]").fill("document.title");
    await said(page, "1 of 300 videos");
    assert.notEqual(await page.title(), "taken");
    await page.context().close();
  },
  async "errors choose videos, and are counted exactly"() {
    const page = await open(WIDE);
    await field(page, "Show").selectOption({ label: "no reference there" });
    // Videos with four events or more, of which every fourth is nowhere: 200 / 4, 5 / 4 and one each of 4, 5 and 6.
    const lengths = Array.from({ length: 299 }, (_, v) => [1, 5, 200][v] || 2 + (v % 5));
    const nowhere = lengths.map((n) => Math.floor(n / 4));
    await said(page, `${nowhere.filter((n) => n).length} of 300 videos, ${nowhere.reduce((a, b) => a + b)} events`);
    await field(page, "System").selectOption({ label: "second" });
    await field(page, "References").selectOption({ label: "val_2" });
    await page.waitForFunction(() => document.querySelector("output.count").textContent.includes("of 225 videos"));
    assert.ok((await page.locator(".event.sought").count()) > 0);
    await page.context().close();
  },
  async "an event is read by pointer, focus and arrow keys"() {
    const page = await open(WIDE, "#video=v_1");
    assert.equal(await page.locator(".track").first().locator(".event").count(), 5);
    assert.equal(await page.locator(".links path").count(), 3);
    const predictions = page.locator(".track").last().locator(".event");
    await predictions.nth(0).hover();
    assert.match(await page.locator(".words").textContent(), /Prediction 1.*matched.*overlap 0\.875.*METEOR 0\.400.*Reference 1/);
    assert.deepEqual(await page.locator(".words mark").allTextContents(), ["a man rides a horse", "0", "a man rides a", "horse 0"]);
    await page.locator(".list").focus();
    await predictions.nth(0).focus();
    await page.keyboard.press("ArrowRight");
    assert.match(await page.locator(".words").textContent(), /Prediction 2.*doubled.*too long.*overlaps, not matched/);
    await page.keyboard.press("End");
    assert.match(await page.locator(".words").textContent(), /Prediction 5/);
    const references = page.locator(".track").first().locator(".event");
    await references.nth(3).focus();
    assert.match(await page.locator(".words").textContent(), /Reference 4.*missed/);
    await page.context().close();
  },
  async "each video has an address, and times stand on the axis"() {
    const page = await open(WIDE, "#video=v_2&order=file&system=second");
    assert.equal(await page.locator(".detail h3 bdi").textContent(), "v_2");
    assert.equal(await page.locator(".event").count() - 4, 400, "beside the legend's");
    const ticks = await page.locator(".tick").allTextContents();
    assert.equal(ticks[0], "0:00");
    assert.ok(ticks.length > 4 && ticks.every((tick) => /^\d+:\d\d$/.test(tick)), ticks.join());
    const before = await page.locator(".timeline").evaluate((one) => one.clientWidth);
    await field(page, "Zoom").selectOption({ label: "4 times" });
    await page.waitForFunction((before) => document.querySelector(".timeline").clientWidth > 3.9 * before, before);
    assert.ok(!(await overflows(page)));
    await page.context().close();
  },
  async "on a phone the opened video covers the list"() {
    const page = await open(SMALL);
    assert.ok(!(await overflows(page)));
    await page.locator(".row").nth(2).tap();
    await page.locator(".detail .event").first().tap();
    await page.locator(".words .card").first().waitFor();
    assert.ok(!(await overflows(page)));
    await page.getByRole("button", { name: "Back to the list" }).tap();
    assert.ok(await page.locator(".list").isVisible());
    await page.context().close();
  },
  async "axe finds nothing, light and dark, with 1, 5 and 200 events"() {
    for (const [shape, size] of Object.entries({ wide: WIDE, small: SMALL })) {
      for (const colorScheme of ["light", "dark"]) {
        for (const [video, n] of [["v_0", 1], ["v_1", 5], ["v_2", 200]]) {
          // axe needs a context without the page's policy, which forbids foreign scripts.
          const page = await open({ ...size, colorScheme, bypassCSP: true }, "#video=" + video);
          await page.locator(".detail .event").last().focus();
          await page.evaluate(axe);
          const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
          assert.deepEqual(violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 2).map((node) => node.html.slice(0, 160) + " " + (node.any[0]?.message || "")).join(" | ")), []);
          if (screenshots) await page.screenshot({ path: join(screenshots, `events-${shape}-${colorScheme}-${n}.png`) });
          await page.context().close();
        }
      }
    }
  },
});
await browser.close();
assert.deepEqual(complaints, []);
process.exit(failed ? 1 : 0);
