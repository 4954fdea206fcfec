// Opens a page of `capeval score --html` in a real browser: sorts, searches, opens an image, changes the theme, and
// checks that hostile captions stay text, that no script fails, and that axe finds no violations.
//
// node page.mjs BROWSER MODULES PAGE WIDE PICTURED RATED PAIRED DIVERSE [SCREENSHOTS]: PAGE holds the systems "first" and
// "second" of xtask/src/browser.rs, WIDE two systems, one with a long name, scored by all metrics, PICTURED a comparison
// with pictures in it, RATED a correlation, PAIRED preferences, and DIVERSE the diversity of captions; MODULES is the
// folder that holds playwright-core and axe-core.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PATIENCE, launch } from "./support.mjs";

const [browserPath, modules, path, widePath, picturedPath, ratedPath, pairedPath, diversePath, screenshots] = process.argv.slice(2);
const { browser, require } = await launch(browserPath, modules);
const axe = readFileSync(require.resolve("axe-core"), "utf8");
const complaints = [];

async function open(options, path_ = path, hash = "") {
  const context = await browser.newContext({ bypassCSP: false, ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => { complaints.push("a dialog: " + dialog.message()); dialog.dismiss(); });
  page.on("request", (request) => { if (!request.url().startsWith("file:") && !request.url().startsWith("data:")) complaints.push("a request: " + request.url()); });
  const start = Date.now();
  await page.goto(pathToFileURL(path_).href + hash);
  await page.waitForSelector("html[data-ready]");
  return [page, Date.now() - start];
}

const shot = async (page, name) => { if (screenshots) await page.screenshot({ path: join(screenshots, name + ".png") }); };
const values = (page) => page.locator(".row .value").allTextContents();
const ids = (page) => page.locator(".row .id").allTextContents();
const output = (page) => page.locator("output.count").textContent();
// Waits until the check passes in the page.
const until = (page, check, argument) => page.waitForFunction(check, argument);

async function complaintsOfAxe(browserOptions, path_, prepare) {
  // axe needs a context without the page's policy, which forbids foreign scripts.
  const context = await browser.newContext({ bypassCSP: true, ...browserOptions });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  await page.goto(pathToFileURL(path_).href);
  if (prepare) await prepare(page);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
  await context.close();
  return violations.map(({ id, nodes }) => id + ": " + nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + " " + (node.any[0]?.message || "")).join(" | "));
}

const steps = {
  async "scene graphs are drawn from left to right, and what only one side states is dashed"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } });
    // SPICE's data are not here, so the drawing gets statements of its own; a cycle and a loop must end.
    const assets = ["data.js", "scene.js"].map((name) => readFileSync(new URL("../../crates/pages/assets/" + name, import.meta.url), "utf8"));
    const statements = [
      [["man"], true], [["man", "tall"], false], [["horse"], true], [["man", "ride", "horse"], true], [["horse", "on", "beach"], false],
      [["beach", "behind", "horse"], false], [["beach", "near", "beach"], false], [["<b>\u0001"], false],
    ].map(([terms, matched]) => ({ terms, matched }));
    const many = Array.from({ length: 81 }, (_, k) => ({ terms: ["thing " + k], matched: false }));
    const left = await page.evaluate(`{ ${assets.join("")}
      document.body.append(scene("facts", ${JSON.stringify(statements)}));
      scene("facts", ${JSON.stringify(many)}) }`);
    assert.equal(left, null);
    const drawing = page.locator("svg.scene").last();
    assert.equal(await drawing.getAttribute("aria-label"), "facts: man, man tall, horse, man ride horse, horse on beach, beach behind horse, beach near beach, <b>\u2401");
    assert.deepEqual(await drawing.locator("text.thing").allTextContents(), ["man", "horse", "beach", "<b>\u2401"]);
    const [man, horse, beach] = await drawing.locator("rect").evaluateAll((boxes) => boxes.map((box) => Number(box.getAttribute("x"))));
    assert.ok(man < horse && horse < beach, [man, horse, beach].join());
    assert.deepEqual(await drawing.locator("rect.one").count(), 2);
    assert.deepEqual([await drawing.locator("path.both").count(), await drawing.locator("path.one").count()], [1, 3]);
    await page.context().close();
  },

  async "the page opens, and shows scores and charts"() {
    const [page, took] = await open({ viewport: { width: 1360, height: 900 } });
    assert.equal(await page.locator("#scores tbody tr").count(), 2);
    assert.ok((await page.locator("#charts figure svg").count()) >= 5);
    assert.ok(await page.locator("#charts figure [role=img]").first().getAttribute("aria-label"));
    await shot(page, "wide-light");
    console.log(`  opened in ${took} ms`);
    await page.close();
  },
  async "images are sorted by score, worst first or best first"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } });
    const sort = page.locator("label", { hasText: "Sort by" }).locator("select");
    await sort.selectOption({ label: "CIDEr-D" });
    await until(page, () => document.querySelector(".row .value").textContent === "0.000");
    const worst = (await values(page)).map(Number);
    assert.deepEqual(worst, [...worst].sort((a, b) => a - b));
    await page.locator("#order").selectOption({ label: "best first" });
    await until(page, () => document.querySelector(".row .value").textContent !== "0.000");
    assert.equal(await page.evaluate(() => document.querySelector(".list").scrollTop), 0);
    const best = (await values(page)).map(Number);
    assert.deepEqual(best, [...best].sort((a, b) => b - a));
    assert.ok(best[0] > worst[0]);
    // A lower edit rate is better, so the best come first.
    await sort.selectOption({ label: "TER" });
    await until(page, () => document.querySelector(".row .value").textContent === "0.000");
    await sort.selectOption({ label: "image order" });
    await until(page, () => document.querySelector(".row .id").textContent === "0");
    assert.deepEqual((await ids(page)).slice(0, 3), ["0", "1", "2"]);
    await page.close();
  },
  async "a search keeps the images that contain the words"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } });
    const all = await output(page);
    await page.locator("input[type=search]").fill("unicycle");
    await until(page, (before) => document.querySelector("output.count").textContent !== before, all);
    assert.equal(await output(page), "1 of 1,003 images");
    assert.deepEqual(await ids(page), ["17"]);
    await page.locator("input[type=search]").fill("velocipede");
    await until(page, () => document.querySelector("output.count").textContent.startsWith("0"));
    await page.getByLabel("search references, too").check();
    await until(page, () => document.querySelector("output.count").textContent.startsWith("1"));
    assert.deepEqual(await ids(page), ["18"]);
    await page.close();
  },
  async "search and sort keep the list and the opened image together"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } });
    const opened = () => page.locator(".detail h3 bdi").textContent();
    const selected = () => page.locator(".row[aria-selected=true] .id").textContent();
    const together = () => until(page, () => document.querySelector(".row[aria-selected=true] .id")?.textContent === document.querySelector(".detail h3 bdi")?.textContent);
    // Nobody chose an image: the first one of the list is open.
    await together();
    const first = await opened();
    await page.locator("#order").selectOption({ label: "best first" });
    await until(page, (old) => document.querySelector(".detail h3 bdi").textContent !== old, first);
    await together();
    // A chosen image stays open wherever it is in the list.
    await page.locator("input[type=search]").fill("a man");
    await until(page, () => document.querySelector("output.count").textContent.includes(" of "));
    await page.locator(".row").nth(3).click();
    const chosen = await page.locator(".row").nth(3).locator(".id").textContent();
    await until(page, (id) => document.querySelector(".detail h3 bdi").textContent === id, chosen);
    await page.locator("input[type=search]").fill("");
    await until(page, () => document.querySelector("output.count").textContent === "1,003 images");
    await page.locator("#order").selectOption({ label: "worst first" });
    await page.locator("label", { hasText: "Sort by" }).locator("select").selectOption({ label: "image order" });
    await until(page, (id) => document.querySelector(".row[aria-selected=true] .id")?.textContent === id, chosen);
    assert.equal(await opened(), chosen);
    const visible = await page.evaluate(() => {
      const [row, box] = [document.querySelector(".row[aria-selected=true]"), document.querySelector(".list")].map((one) => one.getBoundingClientRect());
      return row.top >= box.top - 1 && row.bottom <= box.bottom + 1;
    });
    assert.ok(visible, "the opened image is out of sight in the list");
    // If it does not match a search, the first match opens; if nothing does, nothing is open.
    await page.locator("input[type=search]").fill("unicycle");
    await until(page, () => document.querySelector(".detail h3 bdi")?.textContent === "17");
    await together();
    await page.locator("input[type=search]").fill("no such words");
    await until(page, () => document.querySelector(".detail .empty")?.textContent === "No image matches the search.");
    assert.equal(await page.locator(".detail h3").count(), 0);
    assert.equal(await page.locator(".row").count(), 0);
    await page.close();
  },
  async "each image has an address"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } }, path, "#image=17&sort=cider-d&order=best");
    assert.equal(await page.locator(".detail h3 bdi").textContent(), "17");
    await page.locator(".row[aria-selected=true]", { hasText: "unicycle" }).waitFor();
    assert.equal(await page.locator("#order").inputValue(), "1");
    await page.locator(".list").focus();
    await page.keyboard.press("Home");
    await until(page, () => !location.hash.includes("image=17&"));
    const id = await page.locator(".detail h3 bdi").textContent();
    const said = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
    assert.deepEqual([said.get("image"), said.get("sort"), said.get("order")], [id, "cider-d", "best"]);
    // A link within the page, or an edited address.
    await page.evaluate(() => { location.hash = "#image=18&search=velocipede&references=yes&system=second"; });
    await until(page, () => document.querySelector(".detail h3 bdi").textContent === "18");
    assert.equal(await output(page), "1 of 1,003 images");
    assert.equal(await page.locator("input[type=search]").inputValue(), "velocipede");
    assert.ok(await page.getByLabel("search references, too").isChecked());
    assert.equal(await page.locator(".card.mine bdi").textContent(), "second");
    await page.evaluate(() => { location.hash = "#image=nowhere"; });
    await page.locator(".detail [role=alert]").waitFor();
    assert.equal(await page.locator(".detail [role=alert]").textContent(), "The page has no image nowhere.");
    await page.close();
  },
  async "the images where two systems differ most come first"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } });
    await page.locator("label", { hasText: "Sort by" }).locator("select").selectOption({ label: "CIDEr-D" });
    await page.locator("label", { hasText: "Difference from" }).locator("select").selectOption({ label: "second" });
    await until(page, () => /^[+-]/.test(document.querySelector(".row .value").textContent));
    const sizes = (await values(page)).map((text) => Math.abs(Number(text)));
    assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
    assert.equal(await page.locator("#order").inputValue(), "2");
    await page.locator("#order").selectOption({ label: "worst first" });
    await until(page, () => document.querySelector(".row .value").textContent.startsWith("-"));
    await page.close();
  },
  async "a bar or a square of a chart lists its images"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } });
    const chart = page.locator("#charts [role=application]").first();
    assert.ok((await chart.getAttribute("aria-label")).includes("arrow keys"));
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await until(page, () => /: [\d,]+ images?/.test(document.querySelector(".cellwords").textContent));
    const said = await page.locator(".cellwords").first().textContent();
    await page.keyboard.press("Enter");
    await until(page, () => document.querySelector(".filters button"));
    assert.equal((await output(page)).split(" ")[0], /: ([\d,]+) image/.exec(said)[1]);
    assert.ok((await page.evaluate(() => location.hash)).includes("where="));
    assert.ok(await page.locator(".list").evaluate((list) => list === document.activeElement));
    assert.ok((await page.locator(".filters button").getAttribute("aria-label")).startsWith("Remove the filter "));
    await page.locator(".filters button").click();
    await until(page, () => document.querySelector("output.count").textContent === "1,003 images");
    assert.ok(await page.locator(".list").evaluate((list) => list === document.activeElement));
    // By mouse, in a heat map: two ranges.
    const squares = page.locator("#charts figure[data-cells]", { has: page.locator(".squares") }).first();
    const box = await squares.locator("svg").boundingBox();
    let found = false;
    for (let k = 0; k < 31 && !found; k += 1) {
      await page.mouse.move(0, 0);
      await squares.locator("svg").hover({ position: { x: box.width * ((68 + 378 * (k + 0.5) / 32) / 460), y: box.height * ((228 - 220 * 0.5 / 32) / 280) } });
      await until(page, () => [...document.querySelectorAll(".cellwords")].some((one) => one.textContent));
      found = !(await squares.locator(".cellwords").textContent()).includes(": 0 images");
    }
    await squares.locator("svg").click({ position: { x: box.width * 80 / 460, y: box.height * 225 / 280 } });
    await until(page, () => document.querySelectorAll(".filters button").length === 2);
    await page.close();
  },
  async "marks weigh by what a match is worth"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } }, path, "#image=17&marks=cider-d");
    // "a" adds almost nothing on its own; as a part of "a unicycle" it is painted.
    const classes = await page.evaluate(() => [...document.querySelectorAll(".references mark")].map((mark) => [mark.textContent.toLowerCase(), mark.className]));
    const of = (word) => classes.filter(([text]) => text === word).map(([, name]) => name);
    assert.ok(of("a").every((name) => !name.endsWith("w4")), JSON.stringify(classes));
    assert.ok(classes.some(([text, name]) => text.includes("unicycle") && name.endsWith("w4")), JSON.stringify(classes));
    await page.close();
  },
  async "an image shows its references, its matched words and how its scores were computed"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } });
    await page.locator("input[type=search]").fill("unicycle");
    await until(page, () => document.querySelectorAll(".row").length === 1);
    await page.locator(".row").click();
    await until(page, () => document.querySelector(".detail h3").textContent === "Image 17");
    await page.locator("label", { hasText: "Marks show" }).locator("select").selectOption({ label: "bleu" });
    const card = page.locator(".card.mine .text");
    await until(page, () => document.querySelectorAll(".card.mine mark").length === 1);
    assert.equal(await card.textContent(), "A man rides a unicycle, slowly!");
    assert.deepEqual(await card.locator("mark").allTextContents(), ["A man rides a unicycle"]);
    assert.equal(await page.locator(".references li").count(), 2);
    assert.ok((await page.locator(".evidence details").count()) >= 6);
    const row = page.locator(".ngrams tbody tr", { has: page.locator("th", { hasText: /^unicycle$/ }) }).last();
    await row.hover();
    assert.deepEqual(await card.locator("mark").allTextContents(), ["unicycle"]);
    assert.deepEqual(await page.locator(".echo mark").allTextContents(), ["unicycle"]);
    await shot(page, "image");
    await page.getByLabel("mark words that differ").check();
    await until(page, () => document.querySelector(".card:not(.mine) ins"));
    assert.deepEqual(await page.locator(".card:not(.mine) del").allTextContents(), ["man", "unicycle slowly"]);
    await page.close();
  },
  async "hostile captions stay text"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } });
    for (const [word, says] of [["hostile-tags", "</script><script>document.title='taken'</script>"], ["hostile-quotes", "\"><img src=x onerror=document.title='taken'>"]]) {
      await page.locator("input[type=search]").fill(word);
      await until(page, (wanted) => document.querySelectorAll(".row").length === 1 && document.querySelector(".row .caption").textContent.includes(wanted), word);
      assert.ok((await page.locator(".row .caption").textContent()).includes(says), word);
      await page.locator(".row").click();
      await until(page, (wanted) => document.querySelector(".card.mine .text")?.textContent.includes(wanted), word);
      assert.ok((await page.locator(".card.mine .text").textContent()).includes(says), word);
      assert.equal(await page.locator(".detail img").count(), 0);
    }
    await page.locator("input[type=search]").fill("hostile-long");
    await until(page, () => document.querySelector(".row .caption").textContent.startsWith("hostile-long"));
    await page.locator(".row").click();
    await until(page, () => document.querySelector(".card.mine .text")?.textContent.length > 10000);
    const fits = await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    assert.ok(fits, "a long caption widens the page");
    assert.notEqual(await page.title(), "taken");
    await page.close();
  },
  async "the list can be used by keyboard"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 } });
    await page.locator(".list").focus();
    await page.locator(".detail h3").waitFor();
    const before = await page.locator(".detail h3").textContent();
    await page.keyboard.press("ArrowDown");
    await until(page, (old) => document.querySelector(".detail h3").textContent !== old, before);
    await page.keyboard.press("End");
    await until(page, () => document.querySelector("[aria-selected=true]")?.getAttribute("aria-posinset") === "1003");
    assert.ok((await page.locator(".row").count()) < 60, "the page holds more than the visible rows");
    await page.close();
  },
  async "a phone shows the list, then the image"() {
    const [page] = await open({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await shot(page, "narrow-dark");
    await page.locator(".row").first().click();
    await page.locator(".detail h3").waitFor({ state: "visible" });
    await shot(page, "narrow-dark-image");
    await page.getByRole("button", { name: "Back to the list" }).click();
    await page.locator(".detail").waitFor({ state: "hidden" });
    await page.close();
  },
  async "no page scrolls sideways, however many measures and however long a name"() {
    for (const which of [path, widePath]) {
      for (const width of [1280, 390]) {
        const [page] = await open({ viewport: { width, height: 900 } }, which);
        const fits = () => page.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth);
        const unfold = () => page.evaluate(() => document.querySelectorAll("details").forEach((one) => { one.open = true; }));
        await unfold();
        assert.ok(await fits(), `${which} at ${width}`);
        await shot(page, `fits-${which === path ? "few" : "all"}-${width}`);
        await page.locator(".row").first().click();
        await page.waitForSelector(".evidence details", { state: "attached" });
        await unfold();
        assert.ok(await fits(), `an image of ${which} at ${width}`);
        await page.close();
      }
    }
  },
  async "pictures are small in the list, and can be enlarged; a wall shows them all"() {
    const [page] = await open({ viewport: { width: 1280, height: 900 } }, picturedPath);
    assert.equal(await page.title(), "Good or weak?");
    // A comparison begins where its systems differ most, and its differences have intervals.
    assert.equal(await page.locator("#order").inputValue(), "2");
    assert.ok(await page.locator("#differences .forest").count());
    assert.ok((await page.locator("#differences .note").first().textContent()).includes("seed 12345"));
    await until(page, () => document.querySelector(".row .thumb").naturalWidth === 1);
    await page.locator("button.picture").click();
    await page.locator("dialog[open] img").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("dialog").waitFor({ state: "detached" });
    await page.getByLabel("pictures side by side").check();
    await until(page, () => document.querySelectorAll(".tile").length > 1);
    assert.ok((await page.evaluate(() => location.hash)).includes("view=wall"));
    await page.locator(".list").focus();
    const before = await page.locator(".detail h3 bdi").textContent();
    await page.keyboard.press("ArrowRight");
    await until(page, (old) => document.querySelector(".detail h3 bdi").textContent !== old, before);
    await page.locator("#images").scrollIntoViewIfNeeded();
    await shot(page, "wall");
    await page.close();
  },
  async "the images of a group are listed alone"() {
    const n = (page) => page.locator(".list [aria-setsize]").first().getAttribute("aria-setsize").then(Number);
    const listed = (page, wanted) => until(page, (size) => document.querySelector(".list [aria-setsize]")?.getAttribute("aria-setsize") === String(size), wanted);
    const [page] = await open({ viewport: { width: 1280, height: 900 } }, picturedPath);
    const all = await n(page);
    const [kinds, words] = [0, 1].map((k) => page.locator("[aria-label=Groups] select").nth(k));
    assert.deepEqual(await kinds.locator("option").allTextContents(), ["all", "a = b & <i>", "most"]);
    await kinds.focus();
    await page.keyboard.press("m");
    await listed(page, all - 1);
    await page.keyboard.press("ArrowUp");
    await listed(page, 1);
    const [only] = await ids(page);
    const said = new URLSearchParams((await page.evaluate(() => location.hash)).slice(1));
    assert.deepEqual([said.get("by"), said.get("group")], [await page.locator("[aria-label=Groups] label span").first().textContent(), "a = b & <i>"]);
    // The address brings it back beside a second property; what the page lacks is ignored.
    const hash = await page.evaluate(() => location.hash);
    const [phone] = await open({ viewport: { width: 390, height: 844 } }, picturedPath, hash + "&by=none&group=most&by=words:candidate&group=none");
    assert.deepEqual(await ids(phone), [only]);
    assert.ok(await phone.evaluate(() => document.scrollingElement.scrollWidth <= innerWidth));
    await phone.locator(".drawer > summary").click();
    assert.equal(await phone.locator("[aria-label=Groups] select").first().inputValue(), "1");
    await shot(phone, "groups-narrow");
    await phone.close();
    // The groups of a candidate's words are those of the system.
    await page.locator(".filters button").click();
    await listed(page, all);
    assert.equal(await kinds.inputValue(), "0");
    for (const [system, said] of [["good", null], ["weak", "weak"]]) {
      await page.locator("#images label", { hasText: /^System/ }).locator("select").selectOption({ label: system });
      let sum = 0;
      for (const bin of (await words.locator("option").allTextContents()).slice(1)) {
        await words.selectOption({ label: bin });
        await until(page, (wanted) => ["system", "group"].every((name, k) => new URLSearchParams(location.hash.slice(1)).get(name) === wanted[k]), [said, bin]);
        const lengths = (await page.locator(".row .caption").allTextContents()).map((text) => text.match(/\S+/g).length);
        const [low, high] = bin.split("-").map(Number);
        assert.ok(lengths.every((length) => length >= low && length <= high), bin + ": " + lengths);
        sum += lengths.length;
      }
      assert.equal(sum, all);
    }
    await shot(page, "groups-wide");
    await page.close();
  },
  async "seven scores fit a screen, and a phone shows images before charts"() {
    const [page] = await open({ viewport: { width: 1280, height: 900 } });
    const fits = await page.evaluate(() => { const box = document.querySelector("#scores .scroll"); return box.scrollWidth <= box.clientWidth; });
    assert.ok(fits, "the table of scores scrolls");
    await page.close();
    const [phone] = await open({ viewport: { width: 390, height: 844 } });
    const top = (selector) => phone.evaluate((wanted) => document.querySelector(wanted).getBoundingClientRect().top, selector);
    assert.ok((await top("#images")) < (await top("#intervals")) && (await top("#intervals")) < (await top("#charts")));
    await phone.close();
  },
  async "the theme follows the system or the reader"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 }, colorScheme: "dark" });
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await paper();
    await page.locator("#theme").click();
    const light = await paper();
    assert.notEqual(dark, light);
    await page.locator("#theme").click();
    assert.equal(await paper(), dark);
    await shot(page, "wide-dark");
    await page.close();
  },
  async "print is light and without controls"() {
    const [page] = await open({ viewport: { width: 1360, height: 900 }, colorScheme: "dark" });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(255, 255, 255)");
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).color), "rgb(29, 31, 36)");
    assert.equal(await page.locator("#images .controls").isVisible(), false);
    await page.close();
  },
  async "axe finds no violations"() {
    for (const colorScheme of ["light", "dark"]) {
      for (const viewport of [{ width: 1360, height: 900 }, { width: 390, height: 844 }]) {
        const opened = async (page) => {
          await page.waitForSelector("html[data-ready]");
          await page.locator(".row").first().click();
          await page.waitForSelector(".evidence details");
        };
        const filtered = async (page) => {
          await page.waitForSelector("html[data-ready]");
          await page.locator("#charts [role=application]").first().focus();
          await page.keyboard.press("ArrowRight");
          await page.keyboard.press("Enter");
          await page.waitForSelector(".filters button");
          // On a phone, the choice is in a drawer.
          const drawer = page.locator(".drawer > summary");
          if (await drawer.isVisible()) await drawer.click();
          await page.getByLabel("pictures side by side").check();
          await page.waitForSelector(".tile");
        };
        const pages = [[path, opened], [path, filtered], [widePath, opened], [picturedPath, opened], [picturedPath, filtered], [ratedPath], [pairedPath], [diversePath]];
        for (const [path_, prepare] of pages) {
          assert.deepEqual(await complaintsOfAxe({ colorScheme, viewport }, path_, prepare), [], path_);
        }
      }
    }
  },
};

let failed = 0;
for (const [name, step] of Object.entries(steps)) {
  complaints.length = 0;
  try {
    await step();
    assert.deepEqual(complaints, []);
    console.log("ok      " + name);
  } catch (error) {
    failed += 1;
    console.log("FAILED  " + name + "\n" + error.stack);
  }
}
await browser.close();
process.exit(failed ? 1 : 0);
