/**
 * A page with what stands between `<!-- generated: NAME -->` and `<!-- end -->` replaced.
 * Errors: an Error where the page has no such block.
 */
export function fillBlock(page: string, name: string, lines: readonly string[]): string {
  const block = new RegExp(`(<!-- generated: ${name} -->\n)[\\s\\S]*?(<!-- end -->)`);
  if (!block.test(page)) throw new Error(`the page has no block "${name}"`);
  return page.replace(block, (_, open: string, close: string) => `${open}\n${lines.join("\n").trim()}\n\n${close}`);
}
