import { once } from "node:events";
import { createServer } from "node:net";

/** A TCP port of 127.0.0.1 that nobody listens on, for programs that take no 0. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}
