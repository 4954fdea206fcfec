// What visitors of the demonstration do most, counted: caption pictures, submit, find one's place, compare with the entry
// above. Prints the clicks and the pixels scrolled of each task, and of each page when its largest part was painted and how
// far its content moved. Clicks, pixels and moves are bounded; times are not, since the machine may be busy.
//
// node tasks.mjs BROWSER MODULES SERVER [WIDTH HEIGHT]

import assert from "node:assert/strict";
import * as support from "./support.mjs";

const [browserPath, modules, program, width = "1366", height = "650"] = process.argv.slice(2);
const viewport = { width: Number(width), height: Number(height) };
const { site, complaints, start, room, person, views, close } = await support.open({ browserPath, modules, program, command: "demo", word: "demonstration" });

// The most clicks of each task, and the most pixels scrolled.
const MOST = { "caption up to ten pictures": [10, 0], submit: [3, 900], "find my place": [1, 0], "compare with the one above": [2, 0] };
// Less than this of the window is not seen to move.
const MOVED = 0.01;
const PAGES = ["/", "/b/everyday", "/b/everyday/validation/leaderboard", "/b/everyday/validation/intervals", "/submissions", "/b/everyday/validation/submit", "/c/screens/caption", "/b/everyday/rules"];

let effort;
// Clicks what a person has to scroll to, if it is out of sight.
const click = async (page, place) => {
  const found = page.locator(place).first();
  await found.waitFor();
  const before = await page.evaluate(() => scrollY);
  await found.scrollIntoViewIfNeeded();
  effort.scrolled += Math.abs(await page.evaluate(() => scrollY) - before);
  effort.clicks += 1;
  await found.click();
};
// The same for what is only looked at.
const look = async (page, place) => {
  const found = page.locator(place).first();
  await found.waitFor();
  const before = await page.evaluate(() => scrollY);
  await found.scrollIntoViewIfNeeded();
  effort.scrolled += Math.abs(await page.evaluate(() => scrollY) - before);
};
const task = async (name, act) => {
  effort = { clicks: 0, scrolled: 0 };
  await act();
  console.log(`     ${name}: ${effort.clicks} clicks, ${Math.round(effort.scrolled)} pixels`);
  const [clicks, scrolled] = MOST[name];
  assert.ok(effort.clicks <= clicks && effort.scrolled <= scrolled, `${name}: ${JSON.stringify(effort)}`);
};

let ada;
const steps = {
  async "the demonstration fills itself"() {
    const page = await (await room()).newPage();
    await page.goto(site);
    const isFull = async () => (await page.locator(".card .leader").count()) >= 3 && (await page.locator(".card").count()) >= 5;
    for (const end = Date.now() + support.PATIENCE; !(await isFull()); await page.reload()) assert.ok(Date.now() < end, "no entries");
    await page.context().close();
    ada = await person("ada", { viewport });
  },

  async "pictures are described without scrolling"() {
    const emil = await person("emil", { viewport });
    await emil.goto(`${site}/c/screens/caption`);
    let number = 0;
    await task("caption up to ten pictures", async () => {
      for (; number < 10 && await emil.locator("textarea[name=text]").count() > 0; number += 1) {
        await emil.fill("textarea[name=text]", `${"红蓝绿紫白黑黄灰金银"[number]}色的人物站在高大的建筑前面望着${"山海林沙雪"[number % 5]}的远方`);
        await Promise.all([emil.waitForEvent("load"), click(emil, "main form button.main")]);
      }
    });
    console.log(`     ${number} pictures`);
    assert.ok(effort.clicks <= number);
    await emil.context().close();
  },

  async "a file is submitted from the page of the benchmark"() {
    await ada.goto(`${site}/b/everyday`);
    await task("submit", async () => {
      await click(ada, "main a[href='/b/everyday/validation/submit']");
      const images = [...Array(120).keys()].map((image) => ({ image_id: image + 1, caption: `a dog is running near a red bus ${image}` }));
      effort.clicks += 1;
      await ada.setInputFiles("main input[name=file]", { name: "results.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(images)) });
      await ada.fill("main input[name=method]", "Ten clicks");
      await click(ada, "main form button.main");
      await ada.waitForURL(/\/submissions\//, { timeout: 60000 }).catch(async () => assert.fail(await ada.locator("main").innerText()));
    });
    await ada.locator("#state .state.scored").waitFor();
  },

  async "the own place is found, and compared with the one above"() {
    await ada.goto(`${site}/`);
    await task("find my place", async () => {
      await click(ada, "nav a[href='/submissions']");
      await look(ada, "main td a[href*='leaderboard#own']");
    });
    await ada.goto(`${site}/`);
    await task("compare with the one above", async () => {
      await click(ada, "nav a[href='/submissions']");
      await click(ada, "main a[href*='compare?entry='][href*='&entry=']");
      await look(ada, "#comparison td.n");
    });
  },

  async "pages are painted soon, and stay where they are"() {
    const storageState = await ada.context().storageState();
    for (const path of PAGES) {
      const context = await room({ storageState, viewport });
      await context.addInitScript(() => {
        Object.assign(window, { painted: 0, moved: 0, movers: [] });
        new PerformanceObserver((list) => list.getEntries().forEach((entry) => { window.painted = entry.startTime; })).observe({ type: "largest-contentful-paint", buffered: true });
        new PerformanceObserver((list) => list.getEntries().forEach((entry) => {
          window.moved += entry.value;
          window.movers.push(...entry.sources.map(({ node }) => (node?.parentElement ?? node)?.outerHTML.slice(0, 120)));
        })).observe({ type: "layout-shift", buffered: true });
      });
      const page = await context.newPage();
      // Scripts come after the first paint, as on a busy machine: what they change may not move what people see.
      let paint;
      const isPainted = new Promise((resolve) => { paint = resolve; });
      await page.route("**/*.js", async (route) => { await isPainted; await route.continue(); });
      await page.goto(site + path, { waitUntil: "commit" });
      await page.waitForFunction(() => window.painted > 0);
      paint();
      await page.waitForLoadState("load");
      await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
      const { painted, moved, movers } = await page.evaluate(() => ({ painted: window.painted, moved: window.moved, movers: window.movers }));
      console.log(`     ${path}: painted after ${Math.round(painted)} ms, moved by ${moved}`);
      assert.ok(moved < MOVED, `${path}: ${moved}, of ${movers.join("; ")}`);
      await context.close();
    }
  },
};

await support.drive({ start, complaints, views, close }, steps, { isChain: true });
