// Two challenges of the past, rebuilt in the browser alone, from an empty folder to open boards with ten teams each: one like
// nocaps, from a bundle as EvalAI has them (domains, a public validation and a hidden test), and one like IntentVC, from the
// rules of its page (points for the first three by each measure, and what breaks ties). Only the teams send their results with
// the program `capeval`, whose own scores the boards must equal. Prints how long each took until it was open.
//
// node past.mjs BROWSER MODULES SERVER CAPEVAL [SCREENSHOTS]

import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import * as support from "./support.mjs";

const [browserPath, modules, program, capeval, screenshots] = process.argv.slice(2);
const settings = { CAPEVAL_SERVER_REQUESTS_PER_MINUTE: "1000000" };
if (process.env.CAPEVAL_DATA) settings.CAPEVAL_SERVER_CAPEVAL_DATA = process.env.CAPEVAL_DATA;
const opened = await support.open({ browserPath, modules, program, settings });
const { site, data, complaints, printed, start, room, person, views, close } = opened;
const folder = mkdtempSync(join(tmpdir(), "capeval-past-"));

const DOMAINS = ["in-domain", "near-domain", "out-domain"];
const subjects = ["a man", "two dogs", "a red bus", "an old woman", "three birds"];
const verbs = ["is standing", "is waiting", "rests", "can be seen"];
const places = ["on the beach", "in front of a house", "next to a tall tree", "under a grey sky", "near the water", "behind a fence"];
const caption = (image, k) => `${subjects[(image + k) % 5]} ${verbs[(image * 2 + k) % 4]} ${places[(image * 3 + k) % 6]}`;
const images = [...Array(30).keys()];
const references = JSON.stringify({
  images: images.map((id) => ({ id, domain: DOMAINS[id % 3] })),
  annotations: images.flatMap((image) => [0, 1, 2, 3, 4].map((k) => ({ id: image * 5 + k, image_id: image, caption: caption(image, k) }))),
});
const teams = ["Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot", "Golf", "Hotel", "India", "Juliet"];
// The worse a team, the more words are wrong; the fourth and the fifth send the same captions.
const wrong = (team, image, word) => (Math.imul(image * 31 + word * 7 + team * 13 + 5, 2654435761) >>> 16) % 12 < (team === 4 ? 3 : team);
const results = (team) => JSON.stringify(images.map((image) => ({
  image_id: image,
  caption: caption(image, 0).split(" ").map((word, k) => (wrong(team === 4 ? 3 : team, image, k) ? "thing" : word)).join(" "),
})));
const files = Object.fromEntries(teams.map((name, team) => [name, join(folder, `${name}.json`)]));
const known = join(folder, "references.json");
writeFileSync(known, references);
teams.forEach((name, team) => writeFileSync(files[name], results(team)));

let page;
let begin;
let hasAll;
const took = {};
// Opens the parts of a form that are closed until someone sets them.
const unfold = () => page.evaluate(() => document.querySelectorAll("main details.part").forEach((part) => (part.open = true)));
const fill = async (name, value) => page.locator(`main [name="${name}"]`).first().fill(value);
const send = async (name, file, buffer) => page.locator(`main [name="${name}"]`).first().setInputFiles({ name: file, mimeType: "application/octet-stream", buffer: Buffer.from(buffer) });
const save = async (url) => {
  await page.locator("main form button.main").first().click();
  await page.waitForURL(url);
};
const until = async (place) => {
  while (await page.locator(place).count() === 0) {
    await new Promise((done) => setTimeout(done, 100));
    await page.reload();
  }
};
// Waits until the references of a phase are ready, and publishes the benchmark.
const publish = async (slug, phases) => {
  for (const phase of phases) {
    await page.goto(`${site}/b/${slug}/${phase}/leaderboard`);
    await until("main p:has-text('No scores yet.')");
  }
  await page.goto(`${site}/b/${slug}/settings`);
  await page.click(`main form[action='/b/${slug}/publish'] button`);
  await page.waitForURL(new RegExp(`/b/${slug}\\?done=published`));
  took[slug] = (performance.now() - begin) / 1000;
  const visitor = await (await room()).newPage();
  assert.equal((await visitor.goto(`${site}/b/${slug}`)).status(), 200);
  await visitor.context().close();
};
const rows = (text) => {
  const [head, ...lines] = text.trim().split(/\r?\n/).map((line) => line.match(/("([^"]|"")*"|[^,]*)(,|$)/g).map((cell) => cell.replace(/,$/, "").replace(/^"|"$/g, "")));
  return lines.map((cells) => Object.fromEntries(head.map((name, k) => [name, cells[k]])));
};
// The rows of a board, by the file that its page offers.
const board = async (address) => {
  const visitor = await (await room()).newPage();
  await visitor.goto(site + address);
  const link = await visitor.locator("main a[href*='format=csv']").first().getAttribute("href");
  const text = await (await visitor.request.get(new URL(link, site).href)).text();
  await visitor.context().close();
  return rows(text).filter((row) => row.team);
};
const score = (metrics, more) => {
  const given = ["score", "-r", known, "-m", metrics, "-f", "csv", ...more, ...teams.map((name) => `${name}=${files[name]}`)];
  return rows(execFileSync(capeval, given, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
};
// Compares the rows of a board, which have three decimals, with those that the program has printed.
const compare = (shown, expected, keys) => {
  assert.equal(shown.length, teams.length);
  for (const row of shown) {
    const own = expected.find(({ system }) => system === row.team);
    for (const key of keys) {
      const name = Object.keys(row).find((known) => known === key || known.startsWith(`${key}@`));
      assert.ok(Math.abs(Number(row[name]) - Number(own[key])) <= 0.00050001, `${row.team} ${key}: ${row[name]}, not ${own[key]}`);
    }
  }
  const main = (row) => Number(expected.find(({ system }) => system === row.team)["cider-d"]);
  for (const row of shown) assert.equal(Number(row.rank), 1 + shown.filter((other) => main(other) > main(row)).length, row.team);
};
const metrics = () => (hasAll ? ["bleu", "meteor", "rouge-l", "cider-d", "spice"] : ["bleu", "rouge-l", "cider-d"]);
const keys = () => ["bleu-1", "bleu-2", "bleu-3", "bleu-4", ...metrics().slice(1)];

const steps = {
  async "the link of the first start makes an administrator"() {
    let link;
    while (!(link = /\/join\/\S+/.exec(printed.join("\n")))) await new Promise((done) => setTimeout(done, 20));
    page = await (await room()).newPage();
    await page.goto(site + link[0]);
    await fill("name", "Ada");
    await fill("email", "ada@example.org");
    await fill("password", support.WORD);
    await save(/done=welcome/);
  },

  async "a challenge with points and tie-breaks is open, from the rules on its page"() {
    await page.goto(`${site}/host/benchmarks/new`);
    await fill("title", "Intents of videos");
    await fill("slug", "intents");
    await fill("rules", "Teams get 3, 2 and 1 points for the first three places by CIDEr, METEOR and BLEU-4. Ties are broken by CIDEr, then METEOR, then BLEU-4.");
    await save(/\/b\/intents\/settings/);
    await page.goto(`${site}/b/intents/new-phase`);
    hasAll = await page.locator("main input[name=metrics][value=spice]:disabled, main input[name=metrics][value=meteor]:disabled").count() === 0;
    if (!hasAll) console.log("skipped: the data of METEOR and SPICE are not installed; ROUGE-L stands for METEOR");
    const second = hasAll ? "meteor" : "rouge-l";
    await unfold();
    await fill("title", "Final");
    await fill("slug", "final");
    await fill("references.0.name", "c5");
    await send("references.0.file", "c5.json", references);
    if (hasAll) await page.check("main input[name=metrics][value=meteor]");
    await fill("rank_by", `points(cider-d, ${second}, bleu-4), cider-d, ${second}, bleu-4`);
    await page.selectOption("main select[name=human]", "false");
    await save(/\/b\/intents\/final\/host/);
    await page.goto(`${site}/b/intents/appearance`);
    await fill("contact", "hosts@example.org");
    await fill("accent", "#14795a");
    await save(/done=saved/);
    await page.click("main details:last-of-type summary");
    await page.fill("main details[open] [name=slug]", "prizes");
    await page.fill("main details[open] [name=title]", "Prizes");
    await page.fill("main details[open] [name=title_zh]", "奖项");
    await page.fill("main details[open] [name=text]", "A **trip** for the first three teams.");
    await page.click("main details[open] form button");
    await page.waitForURL(/done=saved/);
    await publish("intents", ["final"]);
  },

  async "a challenge with domains and a hidden test is open, from a bundle of EvalAI"() {
    begin = performance.now();
    const labels = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", ...(hasAll ? ["METEOR"] : []), "ROUGE_L", "CIDEr-D", ...(hasAll ? ["SPICE"] : [])];
    const phase = (id, name, visible) => [
      `  - id: ${id}`, `    name: ${name}`, `    description: ${name}.html`, `    leaderboard_public: ${visible}`, `    is_public: true`,
      `    start_date: 2020-01-01 00:00:00`, `    end_date: 2099-01-01 00:00:00`, `    test_annotation_file: annotations/${name}.json`,
      `    codename: ${name}`, `    max_submissions_per_day: 5`, `    max_submissions: 20`,
    ];
    const split = (id, visibility) => [`  - challenge_phase_id: ${id}`, `    leaderboard_id: 1`, `    dataset_split_id: 1`, `    visibility: ${visibility}`, `    leaderboard_decimal_precision: 3`];
    const description = [
      "title: Novel objects", "short_description: Captions of objects that no training caption names.", "description: overview.html",
      "evaluation_script: evaluation.zip", "start_date: 2020-01-01 00:00:00", "end_date: 2099-01-01 00:00:00", "published: true", "remote_evaluation: false",
      "leaderboard:", "  - id: 1", "    schema:", `      labels: [${labels.join(", ")}]`, "      default_order_by: CIDEr-D",
      "challenge_phases:", ...phase(1, "val", true), ...phase(2, "test", false),
      "dataset_splits:", "  - id: 1", "    name: all", "    codename: all",
      "challenge_phase_splits:", ...split(1, 3), ...split(2, 1),
    ].join("\n");
    const bundle = support.zip([
      ["challenge_config.yaml", description], ["overview.html", "<h1>Overview</h1><p>Three <b>domains</b>.</p>"], ["val.html", "<p>Public.</p>"], ["test.html", "<p>Hidden.</p>"],
      ["annotations/val.json", references], ["annotations/test.json", references], ["evaluation.zip", "a program"],
    ]);
    await page.goto(`${site}/host/benchmarks/new`);
    await page.click("main a[href='/host/benchmarks/import']");
    await send("file", "bundle.zip", bundle);
    await page.locator("main form button.main").click();
    await page.locator("main section[lang=en]").waitFor();
    const said = await page.locator("main section[lang=en]").textContent();
    assert.match(said, /evaluation\.zip is not run[\s\S]*remote_evaluation/);
    await page.click("main a[href='/b/novel-objects/settings']");
    for (const name of ["val", "test"]) {
      await page.goto(`${site}/b/novel-objects/${name}/host/settings`);
      await unfold();
      await fill("group_by", "domain");
      await page.selectOption("main select[name=human]", "false");
      await save(new RegExp(`/b/novel-objects/${name}/host`));
    }
    await publish("novel-objects", ["val", "test"]);
  },

  async "ten teams send their results with the program"() {
    const run = promisify(execFile);
    const base = ["--data", data, "admin"];
    const each = async (name) => {
      const email = `${name.toLowerCase()}@example.org`;
      execFileSync(program, [...base, "user", "add", "--email", email, "--name", name, "--password-stdin"], { input: support.WORD });
      const token = execFileSync(program, [...base, "token", "create", "--email", email, "--scope", "submit"], { encoding: "utf8" }).trim().split(/\s/).pop();
      for (const phase of ["intents/final", "novel-objects/val", "novel-objects/test"]) {
        await run(capeval, ["submit", files[name], "--to", site, "--phase", phase, "--method", "one"], { env: { ...process.env, CAPEVAL_TOKEN: token } });
      }
    };
    for (const name of teams) await each(name);
  },

  async "the board of points is that of the rule"() {
    const shown = await board("/b/intents/final/leaderboard");
    const measures = ["cider-d", hasAll ? "meteor" : "rouge-l", "bleu-4"];
    const scores = score(["bleu", "cider-d", measures[1]].join(","), []).filter((row) => !row.group);
    const places = (measure, row) => 1 + scores.filter((other) => Number(other[measure]) > Number(row[measure])).length;
    const points = (row) => measures.map((measure) => Math.max(0, 4 - places(measure, row))).reduce((a, b) => a + b);
    const strength = (row) => [points(row), ...measures.map((measure) => Number(row[measure]))];
    const isBetter = (a, b) => {
      const [one, other] = [strength(a), strength(b)];
      const k = one.findIndex((value, k) => value !== other[k]);
      return k >= 0 && one[k] > other[k];
    };
    assert.equal(shown.length, teams.length);
    for (const row of shown) {
      const own = scores.find(({ system }) => system === row.team);
      assert.equal(Number(row.rank), 1 + scores.filter((other) => isBetter(other, own)).length, row.team);
      const key = Object.keys(row).find((name) => name.startsWith("points"));
      assert.equal(Number(row[key]), points(own), `${row.team} ${key}`);
    }
    // Two teams with the same captions share a place.
    assert.equal(shown.find(({ team }) => team === "Delta").rank, shown.find(({ team }) => team === "Echo").rank);
  },

  async "the board of each domain is the one that the program prints"() {
    const scores = score(metrics().join(","), ["--group-by", "domain"]);
    compare(await board("/b/novel-objects/val/leaderboard"), scores.filter((row) => !row.group), keys());
    for (const domain of DOMAINS) {
      compare(await board(`/b/novel-objects/val/leaderboard?group=${domain}`), scores.filter((row) => row.group === domain), keys());
    }
  },

  async "the test is hidden until its hosts show it, and then the same"() {
    const address = "/b/novel-objects/test/leaderboard";
    const visitor = await (await room()).newPage();
    await visitor.goto(site + address);
    assert.equal(await visitor.locator("main td").count(), 0);
    await visitor.context().close();
    await page.goto(`${site}/b/novel-objects/test/host/settings`);
    await unfold();
    await page.selectOption("main select[name=board]", "public");
    await save(/\/b\/novel-objects\/test\/host/);
    compare(await board(address), score(metrics().join(","), []).filter((row) => !row.group), keys());
  },

  async "a team asks in public, and a host answers"() {
    const team = await person("alpha");
    await team.goto(`${site}/b/intents`);
    await team.click("main a[href='/b/intents/questions']");
    await team.fill("main [name=title]", "How are ties broken?");
    await team.fill("main [name=text]", "By *CIDEr* first?");
    await team.click("main form button.main");
    await team.waitForURL(/questions\/[0-9a-f-]+\?done=saved/);
    const address = team.url().split("?")[0];
    await page.goto(address);
    await fill("text", "Yes, then by METEOR.");
    await save(/done=saved/);
    await page.click("main button[value=pin]");
    await page.waitForURL(/done=saved/);
    await team.goto(address);
    assert.equal(await team.getByText("Yes, then by METEOR.").count(), 1);
    await team.context().close();
    const visitor = await (await room({ locale: "zh-CN" })).newPage();
    for (const path of ["/b/intents", "/b/intents/pages/prizes"]) {
      await visitor.goto(site + path);
      assert.equal(await visitor.locator("h1").evaluate((head) => getComputedStyle(head).borderBottomColor), "rgb(20, 121, 90)", path);
    }
    assert.equal(await visitor.locator("h1").textContent(), "奖项");
    await visitor.context().close();
    await support.inspect(opened, page, [
      "b/intents", "b/intents/questions", address.slice(site.length + 1), "b/intents/pages/prizes", "b/intents/appearance", "b/intents/statistics",
      "b/intents/final/host/qualifiers", "host/benchmarks/import",
    ], screenshots && join(screenshots, "past"));
  },
};

begin = performance.now();
await support.drive({ start, complaints, views, close }, steps, { isChain: true });
rmSync(folder, { recursive: true, force: true });
for (const [slug, seconds] of Object.entries(took)) console.log(`     ${slug} was open after ${seconds.toFixed(1)} s`);
