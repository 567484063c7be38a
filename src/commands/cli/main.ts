#!/usr/bin/env node
import { hideArguments } from "../services/shown-arguments.js";
import { processIo } from "./io.js";
import { runCli } from "./program.js";

hideArguments(process.argv.slice(2));

// `dataflex-mq components | head` closes stdout early: that is not an error.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await runCli(process.argv.slice(2), processIo());
