// Takes the pictures of the documentation: pages as a browser shows them.
//
//   node pictures.mjs BROWSER MODULES OUT PAGE...
//
// The picture of a page is named after its file.

import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";

import { launch } from "./support.mjs";

const [browserPath, modules, out, ...files] = process.argv.slice(2);
const { browser } = await launch(browserPath, modules);
try {
  const context = await browser.newContext({ viewport: { width: 1100, height: 760 }, colorScheme: "light", reducedMotion: "reduce" });
  const page = await context.newPage();
  for (const file of files) {
    await page.goto(pathToFileURL(file).href);
    await page.screenshot({ path: join(out, `${basename(file, ".html")}.png`) });
  }
} finally {
  await browser.close();
}
