import { parseArgs } from "node:util";
import { ConsoleLog } from "../adapters/console/log.ts";
import { addKey } from "../adapters/crypto/key_file.ts";
import { KEYS_CHANNEL } from "../adapters/postgres/postgres_world.ts";
import { assertKeys } from "../adapters/postgres/vault_keys.ts";
import { outdated, rotateKey } from "../application/system/rotate_key.ts";
import type { Config } from "../config.ts";
import { type Failure, invalid } from "../domain/failure.ts";
import { normalEmail } from "../domain/identity/identity.ts";
import { useCases } from "./build_application.ts";
import { openWorld } from "./open_world.ts";

/** The deadline for running servers to load a new key. */
const HEAR_MS = 30_000;

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function opened(config: Config) {
  const log = new ConsoleLog({ level: "warn", format: "text", print: (text) => void process.stderr.write(text) });
  return openWorld(config, log, "guest");
}

/** Creates the first owner of an installation that has none. */
export async function init(config: Config, argv: readonly string[]): Promise<void> {
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
export async function rotate(config: Config): Promise<void> {
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
