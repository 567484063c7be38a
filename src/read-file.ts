import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Why a file was not read: Node's code, or one of ours. */
export class UnreadableFile extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not read it",
  ELOOP: "its links lead in circles",
  ENAMETOOLONG: "its name is too long",
};

/**
 * A regular file of at most `most` bytes. Pipes, devices and sockets are refused before anything is read of them: they may never
 * end, or never begin.
 *
 * @throws UnreadableFile whose message completes "cannot read FILE: "
 */
export function readBoundedFile(file: string, most: number): Buffer {
  let fd: number | undefined;
  try {
    // Opening a pipe would wait for its writer.
    fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    return readAll(fd, most);
  } catch (cause) {
    if (cause instanceof UnreadableFile) throw cause;
    const code = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new UnreadableFile(code, REASONS[code] ?? code, { cause });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

function readAll(fd: number, most: number): Buffer {
  const stat = fstatSync(fd);
  if (stat.isDirectory()) throw new UnreadableFile("EISDIR", REASONS.EISDIR!);
  if (!stat.isFile())
    throw new UnreadableFile("ENOTFILE", "it is a pipe or a device, not a regular file: save what it gives first");
  if (stat.size > most) throw tooLarge(stat.size, most);
  // It may grow meanwhile, and files of the kernel say 0.
  const parts: Buffer[] = [];
  let bytes = 0;
  for (let size = stat.size + 1; ; size = 1 << 16) {
    const buffer = Buffer.allocUnsafe(Math.min(size, most + 1));
    const count = readSync(fd, buffer);
    if (count === 0) return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    bytes += count;
    if (bytes > most) throw tooLarge(bytes, most);
    parts.push(buffer.subarray(0, count));
  }
}

const tooLarge = (bytes: number, most: number): UnreadableFile =>
  new UnreadableFile("EFBIG", `it has ${bytes} bytes or more, and at most ${most} are read. Is it the right file?`);
