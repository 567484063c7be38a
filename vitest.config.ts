import { defineConfig } from "vitest/config";

// Two cores: at most two test files at once; process-level tests wait for states, so their limits are generous.
export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "examples/**/*.test.ts"],
    reporters: ["default", "./test/helpers/skipped.ts"],
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 10_000,
  },
});
