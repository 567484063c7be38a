import { isRecord } from "../../mounting/config/describe.js";

/**
 * Names under which a configuration reads the domain column. A recorded step has one such column, `domain`: whatever the dataset
 * called it, that is what it holds.
 */
export function domainKeys(dataflex: unknown): string[] {
  if (!isRecord(dataflex)) return [];
  const blocks = isRecord(dataflex.pipelines) ? Object.values(dataflex.pipelines) : [dataflex];
  const keys = blocks.map((block) => (isRecord(block) ? block.domain_key : undefined));
  return [...new Set(keys.filter((key): key is string => typeof key === "string"))];
}
