// Takes the pictures of the documentation: the page of two systems, and the board of a benchmark.
//
//   node pictures.mjs BROWSER MODULES PAGE SERVER OUT

import { join } from "node:path";
import { pathToFileURL } from "node:url";

import { open } from "./support.mjs";

const [browserPath, modules, report, program, out] = process.argv.slice(2);
const { site, start, room, close } = await open({ browserPath, modules, program, command: "demo" });
await start();
try {
  const context = await room({ viewport: { width: 1100, height: 760 }, colorScheme: "light", reducedMotion: "reduce" });
  const page = await context.newPage();
  await page.goto(pathToFileURL(report).href);
  await page.screenshot({ path: join(out, "page.png") });
  await page.goto(`${site}/`);
  // The board with the most entries.
  const { benchmarks } = await (await context.request.get(`${site}/api/v1/benchmarks`)).json();
  let [best, most] = ["/", 0];
  for (const { slug, phases } of benchmarks) {
    for (const phase of phases) {
      const address = `/b/${slug}/${phase.slug}/leaderboard`;
      await page.goto(site + address);
      const rows = await page.locator("tbody tr").count();
      if (rows > most) [best, most] = [address, rows];
    }
  }
  await page.goto(site + best);
  await page.screenshot({ path: join(out, "board.png") });
} finally {
  await close();
}
