/** The only option of an address that is no secret by itself. */
const PLAIN_OPTION = "db";

/** As messages say what to write. */
const EXAMPLE = /^(USER)?:PASSWORD$/;

/** An address as it may be shown: without passwords and tokens, wherever they stand in it, and also when it is malformed. */
export function redactUrl(url: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(url)?.[0] ?? "";
  const at = Math.max(url.lastIndexOf("@"), scheme.length);
  return scheme + hideLogin(url.slice(scheme.length, at)) + hideOptions(url.slice(at));
}

/** `user:***`; without a colon it may be a token as well as a name. A socket's path is neither. */
function hideLogin(login: string): string {
  if (login === "" || EXAMPLE.test(login) || (login.startsWith("/") && !/[?:]/.test(login))) return login;
  const colon = login.indexOf(":");
  return colon === -1 ? "***" : `${login.slice(0, colon)}:***`;
}

function hideOptions(rest: string): string {
  return rest.replace(/([?&#])([^=&#]*)=[^&#]*/g, (all, mark: string, name: string) =>
    name === PLAIN_OPTION ? all : `${mark}${name}=***`,
  );
}

const ADDRESS = /\b(?:rediss?|unix|https?):\/\/[^\s"'<>]*/gi;

/** What a terminal would obey: control characters but tab and line feed, and marks that turn the direction of writing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

/** A text as people get to see it: addresses as `redactUrl` shows them, and nothing that a terminal would obey, whoever wrote it. */
export function shownText(text: string): string {
  const plain = text.replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return plain.includes("://") ? plain.replace(ADDRESS, redactUrl) : plain;
}

/** A value of any kind in a few characters; an object from a message may throw when it is asked for its text. */
export function shownValue(value: unknown): string {
  try {
    return String(value).slice(0, 40);
  } catch {
    return "an object";
  }
}
