import { join } from "node:path";
import { noteFiles } from "./adapters/edge/separate/edge_note.ts";
import { stopEdge } from "./adapters/edge/separate/separate_edge.ts";
import { VERSION } from "./wiring/version.ts";
import { BadSetting, type Config, readConfig } from "./config.ts";
import { Failure, invalid } from "./domain/failure.ts";

const HELP = `slipway ${VERSION}

  bin/slipway init --email you@example.com [--name "Your Name"]
      Creates the first owner, before the first start, and prints the token once.
  bin/slipway rotate-key
      Seals every stored secret with a new key, while the server runs.
  bin/slipway stop-edge
      Stops the edge that EDGE=separate left running; apps are unreachable until the next bin/up.
  bin/slipway version

Settings come from the environment, as for bin/up.
`;

const say = (text: string) => void process.stdout.write(`${text}\n`);

/** Stops a separate edge that runs without its server. */
async function endLeftEdge({ dataFolder }: Config): Promise<void> {
  const files = noteFiles(join(dataFolder, "edge"));
  const outcomes = await Promise.all(files.map((file) => stopEdge(file, { ifAlone: true })));
  if (outcomes.includes("busy")) {
    throw invalid("edge_in_use", "Cannot stop the edge: a server uses it and would restart it. Stop the server first");
  }
  const isEnded = outcomes.includes("ended");
  say(
    isEnded
      ? "Stopped the edge. Apps are reachable again after the next bin/up."
      : "Nothing to do: no separate edge is running.",
  );
}

const COMMANDS: Readonly<Record<string, (config: Config, argv: readonly string[]) => Promise<void>>> = {
  // Loaded late, because they need almost the whole server.
  init: async (config, argv) => (await import("./wiring/commands.ts")).init(config, argv),
  "rotate-key": async (config) => (await import("./wiring/commands.ts")).rotate(config),
  "stop-edge": endLeftEdge,
};

/** Runs one command and returns the exit code. */
async function main([name = "help", ...argv]: readonly string[]): Promise<number> {
  if (name === "version" || name === "--version") {
    say(VERSION);
    return 0;
  }
  const command = COMMANDS[name];
  if (!command) {
    say(HELP);
    return name === "help" || name === "--help" ? 0 : 2;
  }
  try {
    await command(readConfig(process.env, process.cwd()), argv);
    return 0;
  } catch (error) {
    const expected =
      error instanceof Failure || error instanceof BadSetting || (error instanceof TypeError && "code" in error);
    if (!expected) throw error;
    process.stderr.write(`slipway: ${error.message}\n`);
    return 1;
  }
}

process.exit(await main(process.argv.slice(2)));
