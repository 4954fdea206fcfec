// An organiser in the browser alone: from an empty folder and the link that the server prints to a scored submission, with
// METEOR and SPICE where their data are installed. Prints what each step took, and how many clicks and fields.
//
// node organise.mjs BROWSER MODULES SERVER [SCREENSHOTS]

import assert from "node:assert/strict";
import { join } from "node:path";
import * as support from "./support.mjs";

const [browserPath, modules, program, screenshots] = process.argv.slice(2);
const { site, complaints, printed, require, start, room, views, close } = await support.open({ browserPath, modules, program, accounts: [] });

const subjects = ["a man", "two dogs", "a red bus", "an old woman", "three birds"];
const places = ["on the beach", "in front of a house", "next to a tall tree", "under a grey sky"];
const caption = (image, k) => `${subjects[(image + k) % 5]} is standing ${places[(image * 3 + k) % 4]}`;
const images = [...Array(20).keys()];
const json = (name, value) => ({ name, mimeType: "application/json", buffer: Buffer.from(JSON.stringify(value)) });
const references = json("c5.json", { annotations: images.flatMap((image) => [0, 1, 2, 3, 4].map((k) => ({ image_id: image, caption: caption(image, k) }))) });
const results = (name, shift) => json(name, images.map((image) => ({ image_id: image, caption: caption(image + shift, 1) })));

let page;
const effort = { clicks: 0, fields: 0 };
const click = async (place) => {
  effort.clicks += 1;
  await page.locator(place).first().click();
};
const fill = async (name, value) => {
  effort.fields += 1;
  const field = page.locator(`main [name="${name}"]`).first();
  await (typeof value === "string" ? field.fill(value) : field.setInputFiles(value));
};
const choose = async (name, value) => {
  effort.clicks += 1;
  await page.check(`main input[name="${name}"][value="${value}"]`);
};
const shoot = async (name) => {
  if (screenshots) await page.screenshot({ path: join(screenshots, `organise-${name}.png`), fullPage: true });
};
// Looks again until the page shows this: pages of hosts are still.
const until = async (place) => {
  while (await page.locator(place).count() === 0) {
    await new Promise((done) => setTimeout(done, 100));
    await page.reload();
  }
};
let hasAll = true;

const steps = {
  async "the link of the first start makes an administrator"() {
    let link;
    while (!(link = /\/join\/\S+/.exec(printed.join("\n")))) await new Promise((done) => setTimeout(done, 20));
    page = await (await room()).newPage();
    page.context().on("weberror", (error) => complaints.push(String(error.error())));
    await page.goto(site + link[0]);
    await fill("name", "Ada");
    await fill("email", "ada@example.org");
    await fill("password", support.WORD);
    await click("main form button.main");
    await page.waitForURL(/done=welcome/);
  },

  async "a draft is created, and its rules are previewed"() {
    await click("nav a[href='/host']");
    await click("main a[href='/host/benchmarks/new']");
    await fill("title", "Pictures of people");
    await fill("slug", "people");
    await fill("summary", "Twenty pictures.");
    await fill("rules", "Describe each picture in *one* sentence.");
    await click("main button[formaction*=preview]");
    assert.equal(await page.locator("#preview em").textContent(), "one");
    assert.equal(await page.locator("main input[name=slug]").inputValue(), "people");
    await click("main form button.main");
    await page.waitForURL(/\/b\/people\/settings/);
    await shoot("draft");
  },

  async "Enter saves settings, and a draft is removed"() {
    await page.locator("main input[name=title]").press("Enter");
    await page.waitForURL(/\/b\/people\/settings\?done=saved/);
    await page.goto(`${site}/host/benchmarks/new`);
    await page.fill("main input[name=title]", "A mistake");
    await page.fill("main input[name=slug]", "mistake");
    await page.locator("main input[name=slug]").press("Enter");
    await page.waitForURL(/\/b\/mistake\/settings/);
    await page.click("main .ask summary");
    await page.click("main form[action='/b/mistake/remove'] button");
    await page.waitForURL(/\/host\?done=removed/);
    assert.equal(await page.locator("main a[href='/b/mistake']").count(), 0);
    await page.goto(`${site}/b/people/settings`);
  },

  async "a phase with references, a baseline and metrics is added"() {
    await click("main a[href='/b/people/new-phase']");
    await fill("title", "Test");
    await fill("slug", "test");
    await fill("references.0.name", "c5");
    await fill("references.0.file", references);
    hasAll = await page.locator("#metrics input:disabled").count() === 0;
    if (hasAll) {
      for (const name of ["bleu", "rouge-l", "cider-d"]) await page.uncheck(`main input[name=metrics][value="${name}"]`);
      effort.clicks += 3;
      await choose("metrics", "coco");
    } else {
      console.log("skipped: the data of METEOR and SPICE are not installed");
    }
    await fill("baselines.0.method", "Shifted by two");
    await fill("baselines.0.file", results("shifted.json", 2));
    await shoot("phase");
    await click("main form button.main");
    await page.waitForURL(/\/b\/people\/test\/host/);
  },

  async "the references are prepared and the baseline is scored"() {
    await until("main #submissions .state.scored >> nth=1");
    await shoot("host");
  },

  async "a dry run scores a sample for the host alone"() {
    await click("main a[href='/b/people/test/host/dry-run']");
    await fill("file", results("sample.json", 1));
    await click("main form button.main");
    // The page follows by itself.
    await page.locator("#run .state.scored").waitFor();
    const text = await page.locator("#run").textContent();
    assert.match(text, hasAll ? /METEOR[\s\S]*SPICE/ : /CIDEr-D/);
    await shoot("dry-run");
    const board = await (await room()).newPage();
    assert.equal((await board.goto(`${site}/b/people`)).status(), 404);
    await board.context().close();
  },

  async "the benchmark is published"() {
    await click("main a[href='/b/people/test/host']");
    await click("main form[action$='/publish'] button");
    await page.waitForURL(/\/b\/people\?done=published/);
    const visitor = await (await room()).newPage();
    assert.equal((await visitor.goto(`${site}/b/people`)).status(), 200);
    await visitor.context().close();
  },

  async "a submission is scored"() {
    await click("main a[href='/b/people/test/submit']");
    await fill("method", "Mine");
    await fill("file", results("mine.json", 0));
    await click("main form button.main");
    await page.locator("#state .state.scored").waitFor();
    const text = await page.locator("#state").textContent();
    assert.match(text, hasAll ? /METEOR[\s\S]*SPICE/ : /CIDEr-D/);
    await shoot("submission");
    console.log(`     in all ${effort.clicks} clicks and ${effort.fields} fields`);
  },

  async "the pages have no findings of axe, in both languages, light and dark, wide and narrow"() {
    const paths = ["host", "host/benchmarks/new", "b/people/settings", "b/people/new-phase", "b/people/test/host", "b/people/test/host/settings", "b/people/test/host/dry-run"];
    await support.inspect({ site, room, require }, page, paths, screenshots && join(screenshots, "organise"));
  },
};

await support.drive({ start, complaints, views, close }, steps, { isChain: true });
