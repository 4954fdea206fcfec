// Uses the collections of `capeval-server` in a real browser: an upload, captions with an input method, drafts that survive
// closed pages, lost connections and a restarted server, and captions without a script. `everywhere.mjs` visits all pages.
//
// node site.mjs BROWSER MODULES SERVER CASES: SERVER is the program, CASES tests/data/lint.json of its crate,
// and MODULES the folder that holds playwright-core and axe-core.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as support from "./support.mjs";

const { png } = support;
const [browserPath, modules, program, casesPath] = process.argv.slice(2);
const cases = JSON.parse(readFileSync(casesPath, "utf8"));
const accounts = [["host", "host"], ["ada", "member"], ["bao", "member"], ["cleo", "member"]];
const { site, complaints, start, stop, room, person, views, close } = await support.open({ browserPath, modules, program, accounts });
const passQuiz = (page) => support.passQuiz(page, site, "games");

const text = (page) => page.locator("textarea[name=text]").inputValue();
const image = (page) => page.locator("#caption").getAttribute("data-image");
const steps = {
  async "a host makes a collection, and a picture is uploaded"() {
    const host = await person("host");
    await host.goto(`${site}/host/collections/new`);
    await host.fill("input[name=slug]", "games");
    await host.fill("input[name=title]", "Games");
    await host.fill("textarea[name=details]", "Game title");
    await host.fill("input[name=captions]", "3");
    await host.fill("input[name=approvals]", "0");
    await host.check("input[name=languages][value=en]");
    await host.click("main form button.main");
    await host.waitForURL(/\/c\/games/);
    const ada = await person("ada");
    await ada.goto(`${site}/c/games/upload`);
    const files = [1, 2, 3, 4, 5].map((seed) => ({ name: `${seed}.png`, mimeType: "image/png", buffer: png(seed) }));
    await ada.setInputFiles("input[type=file]", files);
    // A box over half of the first picture is blurred before it leaves the browser.
    const canvas = ada.locator("#pictures canvas").first();
    await canvas.waitFor();
    await ada.waitForFunction(() => document.querySelectorAll("#pictures canvas").length === 5);
    const drag = async (right, bottom) => {
      await canvas.scrollIntoViewIfNeeded();
      const box = await canvas.boundingBox();
      await ada.mouse.move(box.x + 2, box.y + 2);
      await ada.mouse.down();
      await ada.mouse.move(box.x + box.width * right, box.y + box.height * bottom, { steps: 4 });
      await ada.mouse.up();
    };
    // Sums of the left and of the right half.
    const sums = () => canvas.evaluate((one) => [0, one.width / 2 + 8].map((x) => {
      const { data } = one.getContext("2d").getImageData(x + 8, 8, one.width / 2 - 24, one.height - 24);
      return data.reduce((sum, value) => (sum * 31 + value) % 1000003, 7);
    }));
    const before = await sums();
    await drag(0.5, 0.99);
    const after = await sums();
    assert.ok(after[0] !== before[0] && after[1] === before[1], `${before} became ${after}`);
    await ada.locator("#pictures button").first().click();
    assert.deepEqual(await sums(), before, "the change was not undone");
    // The same with the keyboard: the box begins near the middle.
    await canvas.focus();
    for (const key of ["ArrowRight", "Shift+ArrowRight", "Shift+ArrowDown", "Escape", "ArrowLeft", "Shift+ArrowDown", "Enter"]) {
      await ada.keyboard.press(key);
    }
    assert.notDeepEqual(await sums(), before, "the keyboard blurred nothing");
    assert.ok(!(await ada.locator(".editing .box").first().getAttribute("style")), "the box is still there");
    await ada.locator("#pictures button").first().click();
    await ada.check("input[name=tool][value=crop]");
    await drag(0.5, 0.5);
    assert.ok(await canvas.evaluate((one) => one.width < 400 && one.height < 240));
    await ada.fill("input[name=game]", "Blocks");
    await ada.check("input[name=rights]");
    await ada.click("main form button.main");
    await ada.waitForURL(/done=uploaded/);
    // The page follows the job by itself.
    await ada.waitForFunction(() => document.querySelectorAll("#images .state.open").length === 5);
    const widths = await ada.evaluate(async () => {
      const pictures = [...document.querySelectorAll("#images .card a")].map((link) => link.href);
      return Promise.all(pictures.map(async (address) => (await createImageBitmap(await (await fetch(address)).blob())).width));
    });
    assert.equal(widths.filter((width) => width < 400).length, 1, `the cut picture is not among ${widths}`);
    await ada.context().close();
    await host.context().close();
  },

  async "the script and the server have the same rules"() {
    const bao = await person("bao");
    await passQuiz(bao);
    for (const [language, caption, codes] of cases) {
      const found = await bao.evaluate(([caption, language]) => document.getElementById("caption").lint(caption, language), [caption, language]);
      assert.deepEqual(found, codes, `${language} ${caption}`);
    }
    await bao.selectOption("select[name=language]", "zh");
    await bao.fill("textarea[name=text]", "图中有一个战士");
    assert.equal(await bao.locator("#count").textContent(), "7 Chinese characters");
    assert.deepEqual(await bao.locator("#broken li").evaluateAll((items) => items.map((item) => item.className)), ["refuse", "warn"]);
    await bao.context().close();
  },

  async "Enter inside a composition never submits, Ctrl+Enter outside does"() {
    const bao = await person("bao");
    await bao.goto(`${site}/c/games/caption`);
    await bao.selectOption("select[name=language]", "zh");
    const first = await image(bao);
    await bao.fill("textarea[name=text]", "");
    await bao.focus("textarea[name=text]");
    // A form is submitted while the key is handled, and a key has been handled once it is pressed.
    await bao.evaluate(() => {
      window.submissions = 0;
      addEventListener("submit", () => { window.submissions += 1; }, true);
    });
    const submissions = (page) => page.evaluate(() => window.submissions);
    const devtools = await bao.context().newCDPSession(bao);
    await devtools.send("Input.imeSetComposition", { text: "hongyizhanshi", selectionStart: 13, selectionEnd: 13 });
    for (const modifiers of [0, 2]) {
      // While an input method composes, keys have the code 229.
      const key = { windowsVirtualKeyCode: 229, code: "Enter", key: "Enter", modifiers };
      await devtools.send("Input.dispatchKeyEvent", { type: "rawKeyDown", ...key });
      await devtools.send("Input.dispatchKeyEvent", { type: "keyUp", ...key });
    }
    await bao.evaluate(() => {
      // Some browsers say so in one way only.
      const field = document.querySelector("textarea[name=text]");
      field.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", ctrlKey: true, isComposing: true, bubbles: true, cancelable: true }));
    });
    assert.equal(await submissions(bao), 0, "a composition was submitted");
    await devtools.send("Input.insertText", { text: "红衣战士举着长剑站在燃烧的木桥上" });
    await bao.keyboard.press("Enter");
    assert.equal(await submissions(bao), 0, "Enter submitted");
    assert.equal(await image(bao), first);
    await bao.keyboard.press("Control+Enter");
    await bao.waitForURL(/done=caption/);
    assert.notEqual(await image(bao), first);
    await bao.goto(`${site}/c/games/mine`);
    assert.match(await bao.locator("main").textContent(), /红衣战士举着长剑站在燃烧的木桥上/);
    await bao.context().close();
  },

  async "a draft survives a closed page, a lost connection and a restarted server"() {
    const bao = await person("bao");
    const context = bao.context();
    await bao.goto(`${site}/c/games/caption`);
    await bao.selectOption("select[name=language]", "en");
    await bao.locator("textarea[name=text]").pressSequentially("A half finished caption");
    await bao.close();
    const again = await context.newPage();
    await again.goto(`${site}/c/games/caption`);
    assert.equal(await text(again), "A half finished caption");
    await context.setOffline(true);
    await again.locator("textarea[name=text]").pressSequentially(" without a connection");
    await again.waitForFunction(() => document.getElementById("kept").textContent.includes("No connection"));
    await stop();
    await context.setOffline(false);
    await start();
    await again.reload();
    assert.equal(await text(again), "A half finished caption without a connection");
    // Another browser of the same person has it once the server does.
    await again.locator("textarea[name=text]").pressSequentially(".");
    await again.waitForFunction(() => document.getElementById("kept").textContent.includes("Draft saved"));
    const elsewhere = await person("bao");
    await elsewhere.goto(`${site}/c/games/caption`);
    assert.equal(await text(elsewhere), "A half finished caption without a connection.");
    // The language is that of the last caption.
    assert.equal(await elsewhere.locator("select[name=language]").inputValue(), "zh");
    await elsewhere.selectOption("select[name=language]", "en");
    await elsewhere.fill("textarea[name=text]", "A green field of blocks lies below a purple sky at noon");
    await elsewhere.click("#caption button.main");
    await elsewhere.waitForURL(/done=caption/);
    assert.equal(await text(elsewhere), "");
    await elsewhere.context().close();
    await context.close();
  },

  async "a caption handed in without a connection is sent once there is one"() {
    let bao = await person("bao");
    const context = bao.context();
    const described = () => bao.evaluate(async () => {
      const mine = new DOMParser().parseFromString(await (await fetch("/c/games/mine")).text(), "text/html");
      return [...mine.querySelectorAll("td.wrap")].map((cell) => cell.firstChild.textContent.trim());
    });
    const hand = async (words) => {
      await bao.fill("textarea[name=text]", words);
      await bao.click("#caption button.main");
    };
    await bao.goto(`${site}/c/games/caption`);
    await bao.selectOption("select[name=language]", "en");
    const first = await image(bao);
    // What would be refused is not kept, but the draft is.
    await context.setOffline(true);
    await hand("too short");
    await bao.waitForFunction(() => document.getElementById("kept").textContent.includes("saved in this browser"));
    await hand("A wooden bridge crosses a river between two steep hills");
    await bao.waitForFunction(() => document.getElementById("kept").textContent.includes("sent when you are back"));
    await context.setOffline(false);
    await bao.waitForURL(/done=caption/);
    assert.notEqual(await image(bao), first);
    assert.ok((await described()).includes("A wooden bridge crosses a river between two steep hills"));
    // The page is closed before there is a connection, and another one of the collection is opened later.
    await context.setOffline(true);
    await hand("A small village with red roofs stands beside a lake");
    await bao.waitForFunction(() => document.getElementById("kept").textContent.includes("sent when you are back"));
    await bao.close();
    await context.setOffline(false);
    bao = await context.newPage();
    await bao.goto(`${site}/c/games`);
    await bao.waitForFunction(() => document.getElementById("unsent")?.textContent.includes("has been sent"));
    const texts = await described();
    assert.equal(texts.filter((one) => one === "A small village with red roofs stands beside a lake").length, 1);
    assert.deepEqual(await bao.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("unsent:"))), []);
    // The server is lost and found without a word of the browser's: the page tries again by itself.
    await bao.clock.install();
    await bao.goto(`${site}/c/games/caption`);
    await context.route("**/caption", (route) => route.abort());
    await hand("A narrow path leads through a dense forest to a castle");
    await bao.waitForFunction(() => document.getElementById("kept").textContent.includes("sent when you are back"));
    await context.unroute("**/caption");
    await bao.clock.fastForward(60000);
    await bao.waitForURL(/done=caption/);
    assert.ok((await described()).includes("A narrow path leads through a dense forest to a castle"));
    await context.close();
  },

  async "captions are written without a script, and the picture is enlarged with one"() {
    const cleo = await person("cleo");
    await passQuiz(cleo);
    await cleo.click("#picture a");
    assert.match(await cleo.locator("#picture").getAttribute("class"), /large/);
    const plain = await room({ javaScriptEnabled: false, storageState: await cleo.context().storageState() });
    const page = await plain.newPage();
    await page.goto(`${site}/c/games/caption`);
    await page.selectOption("select[name=language]", "en");
    await page.fill("textarea[name=text]", "Too short.");
    await page.click("#caption button.main");
    assert.match(await page.locator("#broken").textContent(), /Write at least 8 words/);
    assert.equal(await text(page), "Too short.");
    await page.fill("textarea[name=text]", "Many coloured blocks stand in straight rows beside a wall");
    await page.click("#caption button.main");
    assert.match(page.url(), /done=caption/);
    await plain.close();
    await cleo.context().close();
  },

  async "one thumb on a phone is enough"() {
    const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };
    const cleo = await person("cleo", phone);
    const session = await cleo.context().newCDPSession(cleo);
    for (const path of ["caption", "rate"]) {
      await cleo.goto(`${site}/c/games/${path}`);
      // A tap enlarges the picture around the finger, and the next one makes it small again.
      const figure = cleo.locator("#picture");
      const box = await figure.locator("img").boundingBox();
      await cleo.touchscreen.tap(box.x + box.width * 0.9, box.y + box.height * 0.5);
      const shown = () => figure.evaluate((one) => ({ isLarge: one.classList.contains("large"), left: one.scrollLeft, more: one.scrollWidth - one.clientWidth }));
      const large = await shown();
      // The picture that was cut is no wider than the window.
      const isWide = await figure.locator("img").evaluate((one) => one.naturalWidth > 500);
      assert.ok(large.isLarge, path);
      if (isWide) assert.ok(large.more > 100 && large.left > large.more * 0.8, `${path}: ${JSON.stringify(large)}`);
      await cleo.touchscreen.tap(box.x + 40, box.y + 40);
      assert.equal((await shown()).isLarge, false, path);
      // Two fingers zoom as in any page.
      await session.send("Input.synthesizePinchGesture", { x: 195, y: 200, scaleFactor: 2 });
      assert.ok(await cleo.evaluate(() => visualViewport.scale > 1.5), `${path} forbids to pinch`);
      await cleo.reload();
      const small = await cleo.evaluate(() => {
        for (const one of document.querySelectorAll("details")) one.open = true;
        const touched = [...document.querySelectorAll("main button, main select, main textarea, main summary, main label.check, main label.inline, main input:not([type=hidden], [type=checkbox], [type=radio])")];
        return touched.map((one) => [one.outerHTML.slice(0, 80), Math.round(one.getBoundingClientRect().height)]).filter(([, height]) => height < 44);
      });
      assert.deepEqual(small, [], path);
    }
    await cleo.context().close();
  },

  async "picture, answer and button are in the first screen"() {
    const sizes = [{ width: 1366, height: 650 }, { width: 1280, height: 720 }, { width: 390, height: 664 }];
    for (const viewport of sizes) {
      const isPhone = viewport.width < 400;
      const cleo = await person("cleo", { viewport, hasTouch: isPhone, isMobile: isPhone });
      for (const [path, wanted] of [["caption", ["#picture img", "textarea", "button.main"]], ["rate", ["#picture img", "blockquote", ".grades"]]]) {
        await cleo.goto(`${site}/c/games/${path}`);
        for (const one of wanted) {
          const { top, bottom } = await cleo.locator(one).evaluate((found) => {
            const box = found.getBoundingClientRect();
            return { top: box.top, bottom: box.bottom };
          });
          assert.ok(top >= 0 && bottom <= viewport.height, `${one} of ${path} at ${viewport.width}: ${top} to ${bottom}`);
        }
      }
      await cleo.context().close();
    }
  },

  async "captions are rated by keys, and without a script"() {
    const cleo = await person("cleo");
    await cleo.goto(`${site}/c/games/rate`);
    const item = (page) => page.locator("input[name=item]").first().getAttribute("value");
    const first = await item(cleo);
    await cleo.locator("summary").first().click();
    await cleo.check("input[name=tag][value=count]");
    await cleo.keyboard.press("5");
    assert.equal(await item(cleo), first, "5 is not a grade");
    await cleo.keyboard.press("3");
    await cleo.waitForFunction((first) => document.querySelector("input[name=item]")?.value !== first, first);
    await cleo.context().close();
    const bao = await person("bao");
    const plain = await room({ javaScriptEnabled: false, storageState: await bao.context().storageState() });
    const page = await plain.newPage();
    await page.goto(`${site}/c/games/rate`);
    await page.click("button[value='4']");
    assert.match(await page.locator("main").textContent(), /1 rated by you/);
    await plain.close();
    await bao.context().close();
  },

  async "what cannot be undone asks first, without a script"() {
    const cleo = await person("cleo");
    const plain = await room({ javaScriptEnabled: false, storageState: await cleo.context().storageState() });
    const page = await plain.newPage();
    for (const path of ["c/games/mine", "account"]) {
      await page.goto(`${site}/${path}`);
      for (const button of await page.locator(".ask button").all()) assert.equal(await button.isVisible(), false, path);
    }
    await page.goto(`${site}/c/games/mine`);
    const ask = page.locator("form[action*='/mine/captions/'] .ask").first();
    await ask.locator("summary").click();
    assert.match(await ask.textContent(), /cannot be undone/);
    await ask.locator("button").click();
    assert.match(await page.locator("main").textContent(), /withdrawn/);
    await plain.close();
    await cleo.context().close();
  },
};

await support.drive({ start, complaints, views, close }, steps);
