import { defineConfig } from "vitest/config";

// Needs the Python environments of python/requirements-test.txt and test/parity: a command of its own, `npm run test:python`.
export default defineConfig({
  test: {
    include: ["test/python/*.python.ts"],
    setupFiles: ["test/python/setup.ts"],
    pool: "forks",
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 1_200_000,
  },
});
