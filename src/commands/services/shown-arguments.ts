import { redactUrl } from "../../redact.js";

/** Flags whose value is a secret as a whole. */
const SECRET = new Set(["--token"]);

/** A command line as `ps` may show it. */
function shownArguments(argv: readonly string[]): string[] {
  return argv.map((argument, i) => {
    const [flag = "", ...value] = argument.split("=");
    if (SECRET.has(argv[i - 1] ?? "")) return "***";
    if (value.length === 0) return redactUrl(argument);
    if (!flag.startsWith("--")) return redactUrl(argument);
    return `${flag}=${SECRET.has(flag) ? "***" : redactUrl(value.join("="))}`;
  });
}

/** Takes passwords and tokens out of what other users of this machine see in its list of processes. */
export function hideArguments(argv: readonly string[]): void {
  const shown = shownArguments(argv);
  if (shown.some((argument, i) => argument !== argv[i])) process.title = ["dataflex-mq", ...shown].join(" ");
}
