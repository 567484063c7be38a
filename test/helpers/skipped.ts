import type { Reporter, TestModule, Vitest } from "vitest/node";
import { installLine, missingPackages } from "../../scripts/packages.js";

/** After the tests' summary: the names of those that were skipped, how many, and the line that installs what they need. */
export default class SkippedTests implements Reporter {
  private filtered = false;

  onInit(vitest: Vitest): void {
    this.filtered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // `-t PATTERN` skips by itself.
    if (this.filtered) return;
    const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")]);
    if (skipped.length === 0) return;
    for (const test of skipped) console.log(`  skipped: ${test.module.relativeModuleId} > ${test.fullName}`);
    const missing = missingPackages();
    console.log(
      `${skipped.length} tests skipped, not installed: ${missing.join(", ")}. Type:  ${installLine(missing)}\n`,
    );
  }
}
