import { defineConfig } from "vitest/config";

// Needs Python and, at the first run, PyTorch and verl from PyPI: a command of its own, `npm run test:parity`, not part of `npm test`.
export default defineConfig({
  test: { include: ["test/parity/*.parity.ts"], testTimeout: 60_000, hookTimeout: 1_200_000 },
});
