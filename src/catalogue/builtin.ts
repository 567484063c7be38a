import { BUILT_INS } from "../components/catalogue.js";
import { type Catalogue, catalogueOf } from "./entry.js";

let built: Catalogue | undefined;

/** The catalogue of the built-in components: what every worker has. */
export function builtinCatalogue(): Catalogue {
  built ??= catalogueOf(BUILT_INS);
  return built;
}
