import { expect, test } from "vitest";
import { runOfSegment } from "../../../../src/observe/http/live-routes.js";
import { runSegment } from "../../../../src/observe/page/loading.js";

test.each([".", "..", "~.", "~~..", "...", "~", "a.b", "%2e", "ü/?#", "~.x"])(
  "an address with the run %s in it keeps its form in a browser, and names that run",
  (run) => {
    const { pathname } = new URL(`http://h/api/v1/runs/${runSegment(run)}/steps`);
    const [, segment] = /^\/api\/v1\/runs\/([^/]+)\/steps$/.exec(pathname) ?? [];
    expect(runOfSegment(decodeURIComponent(segment ?? ""))).toBe(run);
  },
);
