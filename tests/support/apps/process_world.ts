import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyringOf } from "../../../adapters/crypto/keyring.ts";
import { CryptoVault } from "../../../adapters/crypto/vault.ts";
import { systemUser } from "../../../adapters/local/system_user.ts";
import { ProcessBuilder } from "../../../adapters/process/builder.ts";
import { chooseSandbox } from "../../../adapters/process/choose_sandbox.ts";
import { ProcessRuntime } from "../../../adapters/process/runtime.ts";
import { SANDBOX_KINDS, type SandboxKind } from "../../../adapters/process/sandbox.ts";
import type { RunnableFolder } from "../../../ports/services/runtime.ts";
import type { RuntimeForContract } from "../../contracts/runtime.ts";

// Shared by all processes of a test.
const keyring = await keyringOf([{ text: new Uint8Array(32).fill(7).toBase64(), origin: "the test" }]);

const user = systemUser("slipway-app");

const WEB = `
console.log("started");
Bun.serve({ hostname: "127.0.0.1", port: process.env.PORT, fetch: () => new Response(process.env.GREETING) });
`;

const GREEDY = `
const held = [];
setInterval(() => held.push(new Uint8Array(8_000_000).fill(1)), 20);
`;

/** A data folder with one release, and a runtime on it. */
export interface ProcessWorld extends RuntimeForContract<RunnableFolder> {
  readonly runtime: ProcessRuntime;
  /** The release folder. */
  readonly folder: string;
  /** The data folder. */
  readonly data: string;
  /** Another runtime on the same folder, as another server process would have. */
  another(): ProcessRuntime;
}

/** Creates a data folder as a server does, or one that the app user can traverse for programs without a sandbox. */
export async function dataFolder(kind: SandboxKind): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "slipway-"));
  await chmod(data, kind === "plain" ? 0o711 : 0o700);
  return data;
}

/** The sandboxes that work on this machine. `plain` always does; `sandboxes_test.ts` checks which ones must. */
export async function workingSandboxes(): Promise<readonly SandboxKind[]> {
  const found = await Promise.all(
    SANDBOX_KINDS.map(async (kind) => {
      const folder = await dataFolder(kind);
      const chosen = await chooseSandbox({ folder, kinds: [kind], user }).catch(() => undefined);
      await rm(folder, { recursive: true });
      return chosen && kind;
    }),
  );
  return found.filter((kind) => kind !== undefined);
}

/** Opens a supervising runtime on its own data folder. Disposal removes every instance and the folder. */
export async function processWorld(kind: SandboxKind): Promise<ProcessWorld> {
  const data = await dataFolder(kind);
  const folder = join(data, "releases", "dep_1");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "web.ts"), WEB);
  await writeFile(join(folder, "greedy.ts"), GREEDY);
  const another = () => runtimeOn(data, kind);
  const runtime = another();
  await runtime.supervise();
  return {
    runtime,
    folder,
    runs: (command) => ({ kind: "folder", folder, workingFolder: folder, command }),
    data,
    another,
    programs: {
      web: "bun web.ts",
      talking: "printf 'one\\ntwo\\nthree\\nfour\\nfive\\n'; exec sleep 600",
      crashing: "exit 3",
      silent: "exec sleep 600",
      greedy: "exec bun greedy.ts",
      polite: `trap 'echo bye; printf "for good"; exit 0' TERM; exec 2>/dev/null; echo started; while :; do sleep 0.05; done`,
      stubborn: "trap '' TERM; bun web.ts & while :; do wait; done",
    },
    async [Symbol.asyncDispose]() {
      for (const { instanceId } of await runtime.list()) await runtime.remove(instanceId, { graceMs: 0 });
      await runtime[Symbol.asyncDispose]();
      await rm(data, { recursive: true });
    },
  };
}

/** A runtime on a data folder. All of them share one key. */
export function runtimeOn(data: string, kind: SandboxKind): ProcessRuntime {
  return new ProcessRuntime({
    folder: join(data, "instances"),
    vault: new CryptoVault(keyring),
    user,
    sandboxes: [kind],
  });
}

/** A builder on a data folder. */
export function builderOn(data: string, kind: SandboxKind): ProcessBuilder {
  return new ProcessBuilder({
    folder: join(data, "builds"),
    cacheFolder: join(data, "cache"),
    user,
    sandboxes: [kind],
  });
}
