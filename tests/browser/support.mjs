// What the tests of the server's pages share: a server with accounts in a folder of its own, a browser, people who are
// signed in, and pictures.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { deflateSync } from "node:zlib";

export const WORD = "a long password";

// How long a test waits for what must happen, in milliseconds. It only bounds a hang: nothing that works takes nearly as
// long, however busy the machine is.
export const PATIENCE = 600000;

// These keep the browser from using the network on its own.
const QUIET = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

// The browser, and `require` for the packages in the folder `modules`.
export async function launch(browserPath, modules) {
  const require = createRequire(join(modules, "node_modules", "from"));
  const { chromium } = require("playwright-core");
  const browser = await chromium.launch({ executablePath: browserPath, args: QUIET, timeout: PATIENCE });
  return { browser, require };
}

// A site with these accounts, [name, role] each, and a browser, in which `room` makes a context; `settings` are variables of
// the server's environment. `command` may be `demo`, which has accounts of its own, whose password is `word`.
export async function open({ browserPath, modules, program, accounts = [], settings = {}, command = "serve", word = WORD }) {
  const { browser, require } = await launch(browserPath, modules);
  const data = mkdtempSync(join(tmpdir(), "capeval-site-"));
  for (const [name, role] of accounts) {
    const given = ["--data", data, "admin", "user", "add", "--email", `${name}@example.org`, "--role", role, "--password-stdin"];
    execFileSync(program, given, { input: WORD });
  }
  // The browser talks to a port that this process keeps while servers, each on a port of its own, come and go.
  let port;
  const door = createServer((visitor) => {
    const inside = connect(port, "127.0.0.1");
    for (const [one, other] of [[visitor, inside], [inside, visitor]]) {
      one.pipe(other);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise((done) => door.listen(0, "127.0.0.1", done));
  const site = `http://127.0.0.1:${door.address().port}`;
  const env = { ...process.env, CAPEVAL_SERVER_LOG: "error", ...settings };
  const complaints = [];
  // What the server says at its start.
  const printed = [];
  let server;
  // The server listens before it says where.
  const start = async () => {
    server = spawn(program, ["--data", data, command, "--listen", "127.0.0.1:0"], { stdio: ["ignore", "pipe", "inherit"], env });
    port = await new Promise((done, failed) => {
      server.once("exit", () => failed(new Error("the server does not start")));
      createInterface({ input: server.stdout }).on("line", (line) => {
        printed.push(line);
        const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(line);
        if (found) done(Number(found[1]));
      });
    });
  };
  const stop = () => new Promise((done) => {
    server.once("exit", done);
    server.kill("SIGKILL");
  });
  const room = async (options = {}) => {
    const context = await browser.newContext({ locale: "en-US", ...options });
    context.setDefaultTimeout(PATIENCE);
    return context;
  };
  const person = async (name, options = {}) => {
    const context = await room(options);
    context.on("weberror", (error) => complaints.push(String(error.error())));
    const page = await context.newPage();
    await page.goto(`${site}/sign-in`);
    await page.fill("input[name=email]", `${name}@example.org`);
    await page.fill("input[name=password]", word);
    await page.click("main form button");
    await page.waitForURL(`${site}/`);
    return page;
  };
  const close = async () => {
    await browser.close();
    await stop();
    door.close();
    rmSync(data, { recursive: true, force: true });
  };
  // What open pages show, for the report of a failure.
  const views = async () => {
    const words = () => `${location.href}: ${document.body?.innerText.replace(/\s+/g, " ").slice(0, 1000)}`;
    const pages = browser.contexts().flatMap((context) => context.pages());
    const late = new Promise((done) => setTimeout(done, 5000, "a page that does not answer"));
    return Promise.all(pages.map((page) => Promise.race([page.evaluate(words).catch(String), late])));
  };
  return { site, data, complaints, printed, require, start, stop, room, person, views, close };
}

// Runs named steps one after another, and returns the number of those that failed; with `isChain`, none goes on after a
// failure. `views` gives what pages show then.
export async function run(steps, { isChain = false, views = async () => [] } = {}) {
  let failed = 0;
  for (const [name, step] of Object.entries(steps)) {
    const begin = performance.now();
    try {
      await step();
      console.log(`ok   ${name} (${((performance.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      failed += 1;
      console.log([`FAIL ${name}`, error.stack, ...(await views())].join("\n"));
      if (isChain) break;
    }
  }
  return failed;
}

// Starts a site, runs steps as `run` does, and closes it; the process fails if a step fails, or a script of a page.
export async function drive({ start, complaints, views, close }, steps, options) {
  let failed = 0;
  try {
    await start();
    failed = await run(steps, { views, ...options });
    if (complaints.length > 0) {
      failed += 1;
      console.log(`FAIL scripts\n${complaints.join("\n")}`);
    }
  } finally {
    await close();
  }
  process.exitCode = failed > 0 ? 1 : 0;
}

// The right answers of the quiz of a collection.
export async function passQuiz(page, site, slug) {
  await page.goto(`${site}/c/${slug}/guide`);
  for (const [question, answer] of [[0, 1], [1, 2], [2, 0], [3, 1], [4, 2]]) {
    await page.check(`input[name=q${question}][value="${answer}"]`);
  }
  await page.click("main form button.main");
  await page.waitForURL(/\/caption/);
}

// The checksum of a part of a PNG file; `node:zlib` has it from Node.js 20.15 on, and Debian's is older.
const crc32 = (bytes) => {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
};

// A ZIP archive of these files, [name, text] each, which are only stored.
export const zip = (files) => {
  const [parts, list] = [[], []];
  let at = 0;
  for (const [name, text] of files) {
    const [label, body] = [Buffer.from(name), Buffer.from(text)];
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt32LE(crc32(body), 10);
    shared.writeUInt32LE(body.length, 14);
    shared.writeUInt32LE(body.length, 18);
    shared.writeUInt16LE(label.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(at, 10);
    parts.push(Buffer.from("PK\x03\x04"), shared, label, body);
    list.push(Buffer.from("PK\x01\x02\x14\x00"), shared, place, label);
    at += 30 + label.length + body.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(Buffer.concat(list).length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, ...list, Buffer.from("PK\x05\x06"), end]);
};

// Looks for findings of axe on these pages, in both languages, light and dark, wide and narrow.
export async function inspect({ site, room, require }, page, paths, screenshots) {
  const axe = readFileSync(require.resolve("axe-core"), "utf8");
  const storageState = await page.context().storageState();
  for (const [locale, colorScheme, width, height] of [["en-US", "light", 1280, 900], ["zh-CN", "dark", 390, 844]]) {
    // axe needs a context without the policy of pages, which forbids foreign scripts.
    const context = await room({ bypassCSP: true, locale, colorScheme, viewport: { width, height }, storageState });
    const one = await context.newPage();
    for (const path of paths) {
      await one.goto(`${site}/${path}`);
      const name = `${path.replaceAll("/", "-")}-${locale.slice(0, 2)}-${colorScheme}-${width}`;
      if (screenshots) await one.screenshot({ path: `${screenshots}-${name}.png`, fullPage: true });
      assert.ok(!await one.evaluate(() => document.documentElement.scrollWidth > innerWidth), `${name} is wider than the window`);
      await one.evaluate(axe);
      const { violations } = await one.evaluate(() => axe.run(document, { resultTypes: ["violations"] }));
      const found = violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 2).map((node) => node.html.slice(0, 160)).join(" | ")}`);
      assert.deepEqual(found, [], name);
    }
    await context.close();
  }
}

// A picture of blocks that differs for each seed.
export const png = (seed) => {
  const [width, height] = [640, 360];
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      let mixed = Math.imul((x >> 6) * 64 + (y >> 5) + seed * 4096, 2654435761);
      mixed = Math.imul(mixed ^ (mixed >>> 15), 2246822519);
      const value = (mixed ^ (mixed >>> 13)) >>> 24;
      rows.set([value, 255 - value, (seed * 60) % 256], y * (width * 3 + 1) + 1 + x * 3);
    }
  }
  const chunk = (kind, content) => {
    const body = Buffer.concat([Buffer.from(kind), content]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(content.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
};
