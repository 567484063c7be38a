import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser } from "playwright-core";
import ts from "typescript";
import type { Picture } from "./browser/types.js";

const FOLDER = fileURLToPath(new URL("./browser/", import.meta.url));
const UPLOT = join(dirname(createRequire(import.meta.url).resolve("uplot")));
/** No server has this name: this file answers every request of the page. */
const ORIGIN = "http://pictures.invalid/";

/** A function that draws a picture in a page of its own and writes it to a PNG. */
export async function pictureTaker(browser: Browser): Promise<(picture: Picture, path: string) => Promise<void>> {
  const page = await browser.newPage({ viewport: { width: 1080, height: 700 } });
  page.on("pageerror", (error) => {
    throw error;
  });
  await page.route(`${ORIGIN}**`, (route) => {
    const name = new URL(route.request().url()).pathname.slice(1);
    if (name === "") return route.fulfill({ contentType: "text/html", body: "<!doctype html><body></body>" });
    const source = readFileSync(join(FOLDER, name.replace(/\.js$/, ".ts")), "utf8");
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true };
    const { outputText } = ts.transpileModule(source, { compilerOptions: options });
    return route.fulfill({ contentType: "text/javascript", body: outputText });
  });
  await page.goto(ORIGIN);
  await page.addStyleTag({ path: join(UPLOT, "uPlot.min.css") });
  await page.addStyleTag({ path: join(FOLDER, "page.css") });
  await page.addScriptTag({ path: join(UPLOT, "uPlot.iife.min.js") });
  await page.addScriptTag({ url: `${ORIGIN}draw.js`, type: "module" });
  await page.waitForFunction(() => "draw" in globalThis);
  return async (picture, path) => {
    await page.evaluate((p) => (globalThis as unknown as { draw(p: Picture): void }).draw(p), picture);
    await page.screenshot({ path, fullPage: true });
  };
}
