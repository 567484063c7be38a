import { BUILT_INS } from "../../scoring/components/catalogue.js";
import { type Catalogue, catalogueOf } from "./catalogue-entry.js";

let built: Catalogue | undefined;

/** The catalogue of the built-in components: what every worker has. */
export function builtinCatalogue(): Catalogue {
  built ??= catalogueOf(BUILT_INS);
  return built;
}
