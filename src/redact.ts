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

/** A text that people or logs get to see: what looks like an address in it is shown as `redactUrl` does. */
export function redactText(text: string): string {
  return text.includes("://") ? text.replace(ADDRESS, redactUrl) : text;
}
