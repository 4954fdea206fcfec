// The whole life of a collection in a real browser: two people upload pictures, a moderator approves them, six people
// describe each five times, three rate the captions, a caption is refused and one is disputed; when the target is reached, a
// release opens to contributors and to nobody else, its programs run on the files as they lie, its withheld split becomes a
// benchmark, and a results file is scored.
//
// node life.mjs BROWSER MODULES SERVER CAPEVAL: 30 pictures if CAPEVAL_SLOW is set, and 8 with 2 captions each if not. With
// CAPEVAL_PYTHON, an interpreter that has the package, it gives the same digits.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import * as support from "./support.mjs";

const [browserPath, modules, program, capeval] = process.argv.slice(2);
const isWhole = Boolean(process.env.CAPEVAL_SLOW);
// Pictures of each uploader and each game, captions of each picture, and who describes.
const [BATCHES, WANTED, AUTHORS] = isWhole ? [[10, 5], 5, 6] : [[3, 1], 2, 3];
const PICTURES = 2 * (BATCHES[0] + BATCHES[1]);
const UPLOADERS = ["ada", "bao"];
const authors = ["chen", "dina", "emil", "fang", "gong", "hua"].slice(0, AUTHORS);
const raters = ["rui", "sen", "tao"];
const accounts = ["host", "mo", ...UPLOADERS, ...authors, ...raters, "eve", "team"].map((name) => [name, name === "host" ? "host" : "member"]);
const settings = Object.fromEntries(["REQUESTS", "SIGN_INS", "CAPTIONS", "PICTURES"].map((limit) => [`CAPEVAL_SERVER_${limit}_PER_MINUTE`, "100000"]));
const { site, complaints, start, person, views, close } = await support.open({ browserPath, modules, program, accounts, settings });

const people = {};
const all = (names, act) => Promise.all(names.map((name, k) => act(people[name], name, k)));
const collection = async () => (await fetch(`${site}/api/v1/collections/games`)).json();
const status = (page, path) => page.evaluate(async (path) => (await fetch(path)).status, path);

// What people write: each picture has captions that are alike, and each person words them in a way of their own.
const WHO = ["红衣骑士", "白发法师", "年轻农夫", "独臂弓手", "生锈机器人", "绿色巨龙"];
const WHERE = ["断裂的石桥", "燃烧的木塔", "金黄的麦田", "结冰的港口", "漆黑的森林"];
const HOW = ["{}站在{}旁边望着远方的天空", "黄昏时{}正慢慢走过{}", "{}举起武器守在{}的入口", "大雨中{}独自穿过{}", "{}背对镜头靠近{}", "{}在{}前面停下脚步休息"];
const numbers = new Map();
const caption = (image, author) => {
  if (!numbers.has(image)) numbers.set(image, numbers.size);
  const number = numbers.get(image);
  const parts = [WHO[number % WHO.length], WHERE[number % WHERE.length]];
  return HOW[author].replace(/\{\}/g, () => parts.shift());
};
const UNRELATED = "桌上放着一盘没有人动过的红色苹果";
const DISPUTED = "远处似乎有什么东西正在缓慢地移动着";

const described = [];
// Describes pictures until there are none for this person; `first` is the text of the first one.
async function describe(page, name, k, first) {
  await page.goto(`${site}/c/games/caption`);
  for (let special = first; ; special = undefined) {
    const image = await page.evaluate(() => document.getElementById("caption")?.dataset.image ?? null);
    if (!image) return;
    assert.ok(!described.some((one) => one.name === name && one.image === image), `${name} met a picture twice`);
    described.push({ name, image });
    await page.fill("textarea[name=text]", special ?? caption(image, k));
    await Promise.all([page.waitForEvent("load"), page.keyboard.press("Control+Enter")]);
    assert.match(page.url(), /done=caption/);
  }
}

const disputes = ["4", "2", "3"];
let ratings = 0;
// Rates captions by keys until there are none for this person.
async function rate(page) {
  await page.goto(`${site}/c/games/rate`);
  for (;;) {
    const text = await page.evaluate(() => document.querySelector("blockquote")?.textContent ?? null);
    if (text === null) return;
    const key = text === UNRELATED ? "1" : text === DISPUTED ? disputes.shift() ?? "3" : "43"[ratings % 5 === 0 ? 1 : 0];
    ratings += 1;
    await Promise.all([page.waitForEvent("load"), page.keyboard.press(key)]);
  }
}

// Two people rate everything at once, so each caption gets the two grades that it needs; the third settles disputes.
async function rateAll() {
  const [first, second, third] = raters.map((name) => people[name]);
  await Promise.all([rate(first), rate(second)]);
  await rate(third);
}

// The files of an archive whose entries are stored.
function unpack(archive, folder) {
  let at = archive.lastIndexOf("PK\x05\x06", undefined, "latin1");
  const n = archive.readUInt16LE(at + 10);
  at = archive.readUInt32LE(at + 16);
  for (let k = 0; k < n; k += 1) {
    const [size, name, extra, comment] = [archive.readUInt32LE(at + 24), ...[28, 30, 32].map((offset) => archive.readUInt16LE(at + offset))];
    const path = archive.toString("utf8", at + 46, at + 46 + name);
    const local = archive.readUInt32LE(at + 42);
    const content = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    writeFileSync(join(folder, path), archive.subarray(content, content + size));
    at += 46 + name + extra + comment;
  }
}

const folder = mkdtempSync(join(tmpdir(), "capeval-release-"));
const FILE = "/c/games/releases/1/games-1.zip";
const steps = {
  async "everybody signs in, and a host makes the collection"() {
    await Promise.all(accounts.map(async ([name]) => (people[name] = await person(name, { locale: "zh-CN" }))));
    const { host } = people;
    await host.goto(`${site}/host/collections/new`);
    await host.fill("input[name=slug]", "games");
    await host.fill("input[name=title]", "游戏截图");
    await host.fill("textarea[name=details]", "Game title");
    await host.fill("input[name=captions]", String(WANTED));
    await host.fill("input[name=target]", String(PICTURES));
    await host.fill("input[name=approvals]", String(BATCHES[0]));
    await host.fill("textarea[name=moderators]", "mo@example.org");
    await host.click("main form button.main");
    await host.waitForURL(/\/c\/games/);
    await all([...authors, ...raters], (page) => support.passQuiz(page, site, "games"));
  },

  async "pictures are uploaded: the first ones wait for the moderator, the later ones of known people do not"() {
    const upload = async (page, batch, seeds) => {
      await page.goto(`${site}/c/games/upload`);
      const files = seeds.map((seed) => ({ name: `${seed}.png`, mimeType: "image/png", buffer: support.png(seed) }));
      await page.setInputFiles("input[type=file]", files);
      await page.fill("input[name=game]", `游戏${batch}`);
      await page.check("input[name=rights]");
      await page.click("main form button.main");
      await page.waitForURL(/done=uploaded/);
      // The page follows the jobs by itself.
      await page.waitForFunction(() => !document.querySelector("#images .state.processing"));
    };
    const seeds = (k, batch) => Array.from({ length: BATCHES[batch] }, (_, n) => 1 + k * 40 + batch * 20 + n);
    await all(UPLOADERS, (page, _, k) => upload(page, 0, seeds(k, 0)));
    const { mo } = people;
    await mo.goto(`${site}/c/games/moderate`);
    const approve = mo.locator("form[action*='/moderate/images/'] button[value=approve]");
    assert.equal(await approve.count(), 2 * BATCHES[0]);
    while ((await approve.count()) > 0) await Promise.all([mo.waitForEvent("load"), approve.first().click()]);
    await all(UPLOADERS, (page, _, k) => upload(page, 1, seeds(k, 1)));
    await mo.reload();
    assert.equal(await approve.count(), 0, "pictures of known people waited");
    assert.equal((await collection()).pictures, PICTURES);
    await people.ada.goto(`${site}/c/games/releases`);
    assert.equal(await people.ada.locator("main table").count(), 0, "there is a release before the first one");
  },

  async "several people describe each picture, and others rate the captions"() {
    await all(authors, (page, name, k) => describe(page, name, k, [UNRELATED, DISPUTED][k]));
    assert.equal(described.length, PICTURES * WANTED);
    for (const image of numbers.keys()) assert.equal(described.filter((one) => one.image === image).length, WANTED, image);
    await rateAll();
    // Two grades for each, and a third for the one that is disputed.
    assert.equal(ratings, PICTURES * WANTED * 2 + 1);
    const now = await collection();
    assert.equal(now.accepted_captions, PICTURES * WANTED - 2);
    assert.equal(now.complete, PICTURES - (described.find(({ name }) => name === authors[0]).image === described.find(({ name }) => name === authors[1]).image ? 1 : 2));
  },

  async "a refused caption is replaced, the moderator settles the disputed one, and the target is reached"() {
    const { mo } = people;
    await mo.goto(`${site}/c/games/moderate`);
    assert.match(await mo.locator("main").textContent(), new RegExp(DISPUTED));
    await Promise.all([mo.waitForEvent("load"), mo.click("form[action*='/moderate/captions/'] button[value=approve]")]);
    await all(authors, (page, name, k) => describe(page, name, k));
    assert.equal(described.length, PICTURES * WANTED + 1);
    await rateAll();
    const { complete, target, accepted_captions: accepted, waiting_captions: waiting } = await collection();
    assert.deepEqual([complete, target, accepted, waiting], [PICTURES, PICTURES, PICTURES * WANTED, 0]);
    await people.chen.goto(`${site}/c/games/mine`);
    assert.equal(await people.chen.locator(".state.rejected").count(), 1, "the author does not see what was refused");
  },

  async "a release opens to contributors and to nobody else"() {
    const { host } = people;
    await host.goto(`${site}/c/games/releases`);
    await host.fill("input[name=val]", "20");
    await host.fill("input[name=test]", "20");
    await host.click("main form button.main");
    await host.locator("a[download]").waitFor();
    await all([...UPLOADERS, ...authors], async (page, name) => {
      await page.goto(`${site}/c/games/releases/1`);
      assert.equal(await page.locator("a[download]").count(), 1, `${name} sees no file`);
      assert.equal(await status(page, FILE), 200, name);
    });
    await all([...raters, "eve", "team"], async (page, name) => {
      await page.goto(`${site}/c/games/releases/1`);
      assert.equal(await page.locator("a[download]").count(), 0, `${name} sees the file`);
      assert.equal(await status(page, FILE), 404, name);
    });
    assert.equal((await fetch(site + FILE)).status, 404, "somebody without an account gets the file");
    await people.ada.goto(`${site}/c/games/releases/1`);
    const [download] = await Promise.all([people.ada.waitForEvent("download"), people.ada.click("a[download]")]);
    unpack(readFileSync(await download.path()), folder);
  },

  async "programs read the release as it lies"() {
    // The commands are those of its own data card.
    const card = readFileSync(join(folder, "README.md"), "utf8");
    const commands = card.split("```\n")[1].trim().split("\n");
    assert.equal(commands.length, 3);
    const path = dirname(capeval) + delimiter + process.env.PATH;
    const annotations = JSON.parse(readFileSync(join(folder, "annotations/captions_val.json"), "utf8"));
    const results = annotations.images.map(({ id }) => ({ image_id: id, caption: annotations.annotations.find((one) => one.image_id === id).caption }));
    writeFileSync(join(folder, "results.json"), JSON.stringify(results));
    for (const command of commands) {
      const printed = execFileSync("sh", ["-c", command], { cwd: folder, env: { ...process.env, PATH: path }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
      if (isWhole) console.log(`$ ${command}\n${printed.split("\n").filter((line) => !line.endsWith(": OK")).join("\n")}`);
    }
    assert.throws(() => readFileSync(join(folder, "annotations/captions_test.json")), "the withheld captions are in the release");
    assert.match(readFileSync(join(folder, "README.zh.md"), "utf8"), /## 语言与长度/);
    if (!process.env.CAPEVAL_PYTHON) return;
    // Python gives the same digits.
    const python = (code) => JSON.parse(execFileSync(process.env.CAPEVAL_PYTHON, ["-c", `import capeval, json\n${code}`], { cwd: folder, encoding: "utf8" }));
    const printed = (command) => JSON.parse(execFileSync("sh", ["-c", `${command} --format json`], { cwd: folder, env: { ...process.env, PATH: path }, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }));
    const file = "'annotations/captions_val.json'";
    const scores = python(`print(capeval.score(${file}, 'results.json', tokenizer='zh').to_json())`).systems[0].scores;
    assert.deepEqual(scores, printed(commands[1]).systems[0].scores);
    const found = python(`print(capeval.correlate('ratings.json', ${file}, tokenizer='zh', surplus='ignore', own_reference='hold-out').to_json())`);
    const agreements = (one) => JSON.stringify(one.correlations);
    assert.ok(agreements(found)?.length > 100);
    assert.equal(agreements(found), agreements(printed(commands[2])));
    console.log(`     Python gives the same: ${JSON.stringify(scores)}`);
  },

  async "the withheld split becomes a hidden phase, and a results file is scored against it"() {
    const { host, team } = people;
    await host.goto(`${site}/c/games/releases/1`);
    await host.fill("form[action$='/publish'] input[name=benchmark]", "games");
    await host.click("form[action$='/publish'] button.main");
    await host.waitForURL(/\/b\/games\/test-1\/leaderboard/);
    const file = team.locator("input[type=file]");
    const begin = performance.now();
    while ((await file.count()) === 0) {
      assert.ok(performance.now() - begin < support.PATIENCE, "the references are not ready");
      await team.goto(`${site}/b/games/test-1/submit`);
    }
    await team.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await team.locator("button.copy").first().click();
    const copied = await team.evaluate(() => navigator.clipboard.readText());
    assert.match(copied, /capeval submit results\.json --to http:\S+ --phase games\/test-1 --method NAME/);
    const info = JSON.parse(readFileSync(join(folder, "annotations/image_info_test.json"), "utf8"));
    assert.ok(info.images.length > 0 && !("annotations" in info));
    const results = info.images.map(({ id }, k) => ({ image_id: id, caption: `${WHO[k % WHO.length]}站在${WHERE[k % WHERE.length]}旁边` }));
    await file.setInputFiles({ name: "results.json", mimeType: "application/json", buffer: Buffer.from(JSON.stringify(results)) });
    await team.fill("input[name=method]", "Guess");
    await team.click("main form button.main");
    await team.locator(".state.scored").waitFor();
    await team.goto(`${site}/b/games/test-1/leaderboard`);
    const rows = await team.locator("main table tbody tr").evaluateAll((rows) => rows.map((row) => row.innerText.replace(/\s+/g, " ")));
    assert.ok(rows.some((row) => row.includes("Guess") && /\d\.\d{3}/.test(row)), rows.join("\n"));
    if (isWhole) console.log(rows.join("\n"));
    // The search leaves the entries that hold the text.
    const found = async (text) => {
      await team.fill("main input[name=q]", text);
      await Promise.all([team.waitForEvent("load"), team.press("main input[name=q]", "Enter")]);
      return (await team.locator("main table tbody tr").allInnerTexts()).filter((row) => row.includes("Guess"));
    };
    assert.equal((await found("gUESS")).length, 1);
    assert.deepEqual(await found("nobody has this name"), []);
    // Nothing of the hidden captions is on the pages of the benchmark.
    const page = await team.locator("main").innerText();
    assert.ok(!HOW.some((how) => page.includes(how.split("{}")[2] || "停下脚步")));
  },
};

await support.drive({ start, complaints, views, close }, steps, { isChain: true }).finally(() => rmSync(folder, { recursive: true, force: true }));
