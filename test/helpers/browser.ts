import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { packagePath, testWith } from "./packages.js";

/** A test that needs a browser. */
export const test = testWith("chromium");

/** No window, no GPU, and no traffic of its own. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: packagePath("chromium"), args: FLAGS });
}

export interface OpenOptions {
  readonly width?: number;
  readonly height?: number;
  readonly dark?: boolean;
}

/** A page and what its console complained of. */
export interface Watched {
  readonly page: Page;
  readonly complaints: string[];
}

export async function open(context: BrowserContext, url: string): Promise<Watched> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    // What `paintedOf` reads is asked for by the test, not by the page.
    if (message.text().includes("willReadFrequently")) return;
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url);
  return { page, complaints };
}

/** One browser for a test file; each context starts with nothing kept. */
export function useBrowser(): { context(o?: OpenOptions): Promise<BrowserContext> } {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  return {
    context: ({ width = 1440, height = 900, dark = false } = {}) =>
      browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" }),
  };
}

/** Distinct colours of a canvas as `r,g,b,a`: one where nothing is drawn. */
export function paintedOf(page: Page, selector: string): Promise<string[]> {
  return page.locator(`${selector} canvas`).evaluate((element) => {
    const canvas = element as unknown as { width: number; height: number; getContext(kind: "2d"): Pixels };
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set<string>();
    for (let i = 0; i < data.length; i += 4) seen.add(data.slice(i, i + 4).join());
    return [...seen];
  });
}
export const coloursOf = async (page: Page, selector: string): Promise<number> =>
  (await paintedOf(page, selector)).length;
interface Pixels {
  getImageData(x: number, y: number, w: number, h: number): { readonly data: Uint8ClampedArray };
}

/** Steps that the page knows of a pipeline. */
export function seriesOf(page: Page, pipeline = "main"): Promise<number[]> {
  return page.evaluate((name) => {
    const { __dataflex } = globalThis as unknown as {
      __dataflex?: { series(name: string): { steps: number[] } | undefined };
    };
    return __dataflex?.series(name)?.steps ?? [];
  }, pipeline);
}
