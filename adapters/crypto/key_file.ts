import { link, mkdir, open, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { conflict, Failure } from "../../domain/failure.ts";
import { type Keyring, keyringOf, type KeyText, newKeyText } from "./keyring.ts";
import { errorCode, unlessMissing } from "../shared/error_code.ts";

/** The sources of this installation's secret keys. */
export interface KeySources {
  /** The data folder. Its file `secret.key` is used when no current key is given. */
  readonly folder: string;
  /** The value of SLIPWAY_SECRET_KEY. */
  readonly current?: string | undefined;
  /** The values of SLIPWAY_SECRET_KEY_PREVIOUS. */
  readonly previous?: readonly string[] | undefined;
}

const FILE = "secret.key";
const ORIGIN = `the file "${FILE}" in SLIPWAY_DATA`;
const ABANDONED_MS = 10_000;

/**
 * Loads the keys from the settings, or else from the key file, one per line, the current one first. Creates a missing
 * file with a random key, the same one for all processes that start at once.
 */
export async function loadKeyring({ folder, current, previous = [] }: KeySources): Promise<Keyring> {
  const older = previous.map((text) => ({ text, origin: "SLIPWAY_SECRET_KEY_PREVIOUS" }));
  if (current !== undefined) return keyringOf([{ text: current, origin: "SLIPWAY_SECRET_KEY" }, ...older]);
  const [first, ...rest] = await usable(async () => (await readKeys(folder)) ?? (await createKeys(folder)));
  return keyringOf([first, ...rest, ...older]);
}

/**
 * Prepends a new key to the key file, so that it encrypts from now on, and resolves with its id. Previous keys are kept
 * for decryption. Throws `rotation_running` while another process adds a key.
 */
export async function addKey(folder: string): Promise<string> {
  return usable(async () => {
    const keys = (await readKeys(folder)) ?? (await createKeys(folder));
    const added: [KeyText, ...KeyText[]] = [{ text: newKeyText(), origin: ORIGIN }, ...keys];
    const { current } = await keyringOf(added);
    const path = join(folder, FILE);
    // The file name is the lock: of two processes that add a key at once, neither may lose the other's.
    const next = `${path}.next`;
    await removeAbandoned(next);
    await writeNew(next, added);
    const known = await readKeys(folder);
    if (known?.[0].text !== keys[0].text) {
      await unlink(next);
      throw alreadyRunning();
    }
    await rename(next, path);
    await syncFolder(folder);
    return current.id;
  });
}

async function readKeys(folder: string): Promise<[KeyText, ...KeyText[]] | undefined> {
  const content = await readFile(join(folder, FILE), "utf8").catch(unlessMissing);
  if (content === undefined) return undefined;
  const [first, ...rest] = content.split("\n").filter((line) => line.trim() !== "");
  return [{ text: first ?? "", origin: ORIGIN }, ...rest.map((text) => ({ text, origin: ORIGIN }))];
}

async function createKeys(folder: string): Promise<[KeyText, ...KeyText[]]> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, FILE);
  const draft = `${path}.${crypto.randomUUID()}`;
  await writeNew(draft, [{ text: newKeyText(), origin: ORIGIN }]);
  try {
    // A hard link appears atomically and only if the path is free, so all processes that start at once read the same
    // key.
    await link(draft, path);
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
  await syncFolder(folder);
  return (await readKeys(folder)) ?? [{ text: "", origin: ORIGIN }];
}

async function writeNew(path: string, keys: readonly KeyText[]): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(keys.map(({ text }) => `${text.trim()}\n`).join(""));
    await file.sync();
  } finally {
    await file.close();
  }
}

async function removeAbandoned(path: string): Promise<void> {
  try {
    if (Date.now() - (await stat(path)).mtimeMs > ABANDONED_MS) await unlink(path);
  } catch (error) {
    unlessMissing(error);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Converts file errors to failures, without the path. */
async function usable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = errorCode(cause);
    if (cause instanceof Failure || code === "") throw cause;
    if (code === "EEXIST") throw alreadyRunning();
    throw new Failure("unavailable", "secret_key_unusable", `Cannot use ${ORIGIN}: ${code}`, { cause });
  }
}

function alreadyRunning(): Failure {
  return conflict("rotation_running", "Cannot add a secret key: another process is adding one. Try again in a moment");
}
