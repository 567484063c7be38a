// Pictures of the live page for the README and docs/images/: a real demo run, watched in Chromium. `npx tsx scripts/screenshots.ts`
import { spawn } from "node:child_process";
import { mkdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { launchBrowser } from "../test/helpers/browser.js";

let printed = "";
const root = fileURLToPath(new URL("..", import.meta.url));
const images = `${root}docs/images/`;
/** Enough steps for curves that say something, and few enough that rewards still differ within groups. */
const STEPS = 22;

const demo = spawn(
  process.execPath,
  [`${root}dist/src/commands/cli/main.js`, "demo", "--watch", "--steps", String(STEPS)],
  {
    stdio: ["ignore", "pipe", "inherit"],
  },
);
const browser = await launchBrowser();
try {
  mkdirSync(images, { recursive: true });
  const address = await lineOf(/page +(http:\S+)/);
  await lineOf(/stays up until/);
  await picture("live-page", 1280, 1000, false);
  await picture("live-page-dark", 1280, 1000, true);
  await picture("live-page-phone", 360, 780, true);
  await picture("live-page-step", 1280, 1000, false, async (page) => {
    await page.getByRole("button", { name: `Step ${STEPS - 8}`, exact: true }).click();
    await page.getByText("Highest weights").first().waitFor();
  });

  async function picture(
    name: string,
    width: number,
    height: number,
    dark: boolean,
    act: (page: Page) => Promise<unknown> = async () => {},
  ): Promise<void> {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: dark ? "dark" : "light" });
    await page.goto(address);
    await page.locator("#wait canvas").waitFor();
    await act(page);
    const path = `${images}${name}.png`;
    await page.screenshot({ path });
    await page.close();
    process.stdout.write(`${path}  ${Math.round(statSync(path).size / 1024)} KiB\n`);
  }
} finally {
  await browser.close();
  demo.kill("SIGINT");
}

/** Waits for a line of the demo that matches, and answers its first group. */
function lineOf(pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const take = (chunk: Buffer): void => {
      printed += chunk.toString();
      look();
    };
    const look = (): void => {
      const found = pattern.exec(printed);
      if (!found) return;
      demo.stdout.off("data", take);
      resolve(found[1] ?? "");
    };
    demo.stdout.on("data", take);
    demo.once("exit", (code) => reject(new Error(`the demo ended (${code}) before it printed ${pattern}`)));
    look();
  });
}
