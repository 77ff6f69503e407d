import { join } from "node:path";
import { parseArgs } from "node:util";
import { ConsoleLog } from "./adapters/console/log.ts";
import { noteFiles } from "./adapters/edge/separate/edge_note.ts";
import { stopEdge } from "./adapters/edge/separate/separate_edge.ts";
import { addKey } from "./adapters/crypto/key_file.ts";
import { KEYS_CHANNEL } from "./adapters/postgres/postgres_world.ts";
import { assertKeys } from "./adapters/postgres/vault_keys.ts";
import { outdated, rotateKey } from "./application/system/rotate_key.ts";
import { useCases, VERSION } from "./wiring/build_application.ts";
import { BadSetting, type Config, readConfig } from "./config.ts";
import { Failure, invalid } from "./domain/failure.ts";
import { normalEmail } from "./domain/identity/identity.ts";
import { openWorld } from "./wiring/open_world.ts";

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

/** The deadline for running servers to load a new key. */
const HEAR_MS = 30_000;

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function opened(config: Config) {
  const log = new ConsoleLog({ level: "warn", format: "text", print: (text) => void process.stderr.write(text) });
  return openWorld(config, log, "guest");
}

/** Creates the first owner of an installation that has none. */
async function init(config: Config, argv: readonly string[]): Promise<void> {
  const options = { email: { type: "string" }, name: { type: "string" } } as const;
  const { values } = parseArgs({ args: [...argv], options });
  const email = normalEmail(values.email ?? "");
  if (!email) throw invalid("bad_usage", "Cannot create the first owner: give an address with --email you@example.com");
  await using world = await opened(config);
  // Claiming an owned installation would replace the owner's token with the configured one.
  if (await world.installation.founder()) throw alreadyOwned();
  const cases = useCases(world, { ...config, publicUrl: "http://localhost" });
  const { first, shownToken } = await cases.claimInstallation(config.adminToken?.reveal());
  if (!first) throw alreadyOwned();
  const founder = await world.installation.founder();
  await world.users.change(founder!.id, { email, ...(values.name?.trim() && { name: values.name.trim() }) });
  say(`The first owner is ${email}.`);
  if (shownToken) say(`  Token  ${shownToken}\n         It is shown only now: keep it.`);
  say("Next: bin/up");
}

function alreadyOwned(): Failure {
  return invalid(
    "already_owned",
    "Cannot create the first owner: this installation has one. A new token: start with SLIPWAY_ADMIN_TOKEN set",
  );
}

/** Re-encrypts every secret with a new key. After an interruption, the next run resumes. */
async function rotate(config: Config): Promise<void> {
  await using world = await opened(config);
  const { sealedRows, vault } = world;
  const unfinished = await outdated(sealedRows, vault.keyId());
  if (unfinished > 0) {
    say(`Continuing: ${unfinished} secrets are still sealed with a former key.`);
  } else if (config.secretKey) {
    say("Nothing to do: everything is sealed with SLIPWAY_SECRET_KEY.");
    say(
      "To rotate, set SLIPWAY_SECRET_KEY to a new key and SLIPWAY_SECRET_KEY_PREVIOUS to this one, restart every server, then run this again.",
    );
    return;
  } else {
    const keyId = await addKey(config.dataFolder);
    await vault.reload();
    await assertKeys(world.database, vault);
    say(`Created the key ${keyId}; the former one stays in secret.key to read with.`);
  }
  // Also after an interrupted run: a server that has not loaded the new key keeps encrypting with the former one.
  await world.signals.publish(KEYS_CHANNEL, "");
  await world.signals.handled(HEAR_MS);
  const count = await rotateKey({ sealedRows, vault })(({ done, total }) => say(`  ${done} of ${total} secrets`));
  say(
    count === 0 ? "Done: nothing was stored yet." : `Done: ${count} secrets are sealed with the key ${vault.keyId()}.`,
  );
}

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
  init,
  "rotate-key": rotate,
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
