import { statSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { commandFailure, TELLING_LINES } from "../../domain/deployments/command_failure.ts";
import { LineSplitter } from "../../domain/deployments/line_splitter.ts";
import type { Builder, BuildRequest } from "../../ports/deployments/builder.ts";
import type { FindSystemUser } from "../../ports/servers/system_user.ts";
import { BuildCaches } from "./build_caches.ts";
import { type Confinement, sandboxChooser, SYSTEM_PATH } from "./choose_sandbox.ts";
import { killTree, type Tree } from "./end_tree.ts";
import { holdFile } from "../shared/file_lock.ts";
import { chownTree, makeSandboxDirs, type SandboxDirs } from "./sandbox_dirs.ts";
import type { SandboxKind } from "./sandbox.ts";
import { environmentText, READING_SHELL } from "./shell_environment.ts";

/** Options of the process builder. */
export interface ProcessBuilderOptions {
  /** The `builds` folder in the data folder. The data folder is hidden from builds. */
  readonly folder: string;
  /** The `cache` folder in the data folder. */
  readonly cacheFolder: string;
  /** The user that builds run as when the server is root. */
  readonly user: FindSystemUser;
  /** Sandboxes to try, best first. Defaults to all. */
  readonly sandboxes?: readonly SandboxKind[];
}

interface Step {
  readonly request: BuildRequest;
  readonly command: BuildRequest["commands"][number];
  readonly dirs: SandboxDirs;
  readonly confinement: Confinement;
}

const NEW = ".new-";
const HALF_MADE_MS = 600_000;

/**
 * Runs builds as processes of this machine, each build in its own sandbox where possible. They end with this process.
 */
export class ProcessBuilder implements Builder {
  readonly #folder: string;
  readonly #caches: BuildCaches;
  readonly #confinement: () => Promise<Confinement>;

  constructor({ folder, cacheFolder, user, sandboxes }: ProcessBuilderOptions) {
    this.#folder = folder;
    this.#caches = new BuildCaches(cacheFolder);
    this.#confinement = sandboxChooser({ folder, user, ...(sandboxes && { kinds: sandboxes }) });
  }

  async build(request: BuildRequest): Promise<void> {
    request.signal.throwIfAborted();
    const confinement = await this.#confinement();
    using place = await this.#place(confinement);
    const { path: folder } = place;
    using cache = request.cacheKey === undefined ? undefined : await this.#caches.hold(request.cacheKey);
    try {
      const { user } = confinement;
      // A server that was killed during a build with this home may have left processes running.
      if (cache) await killTree(strays(cache.home, confinement));
      await chownTree(user, request.folder);
      const dirs = await makeSandboxDirs({
        folder,
        release: request.folder,
        workingFolder: request.workingFolder,
        hidden: dirname(this.#folder),
        user,
        ...(cache && { home: cache.home }),
      });
      for (const command of request.commands) await run({ request, command, dirs: dirs, confinement });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /** Evicts least recently used package manager caches until the rest takes at most `maxBytes`. */
  trimCaches(maxBytes: number): Promise<void> {
    return this.#caches.trim(maxBytes);
  }

  /**
   * Creates a folder for one build and locks it until the build ends. Removes folders left by killed servers, and kills
   * the processes still running in them.
   */
  async #place(confinement: Confinement): Promise<{ readonly path: string } & Disposable> {
    await mkdir(this.#folder, { recursive: true, mode: 0o711 });
    for (const name of await readdir(this.#folder)) await this.#clearAway(name, confinement);
    // Renamed to its final name only once locked, so that no process waits for another, possibly stalled one, or
    // mistakes this folder for an abandoned one.
    const made = await mkdtemp(join(this.#folder, NEW));
    await chmod(made, 0o711);
    const lock = holdFile(join(made, "lock"))!;
    const path = join(this.#folder, `build-${crypto.randomUUID()}`);
    await rename(made, path);
    return { path, [Symbol.dispose]: () => lock[Symbol.dispose]() };
  }

  async #clearAway(name: string, confinement: Confinement): Promise<void> {
    const left = join(this.#folder, name);
    if (name.startsWith(NEW)) {
      const age = Date.now() - (statSync(left, { throwIfNoEntry: false })?.mtimeMs ?? Infinity);
      if (age > HALF_MADE_MS) await rm(left, { recursive: true, force: true });
    } else if (name.startsWith("build-")) {
      using unused = holdFile(join(left, "lock"));
      if (!unused) return;
      await killTree(strays(join(left, "home"), confinement));
      await rm(left, { recursive: true, force: true });
    }
  }
}

async function run({ request, command, dirs, confinement }: Step): Promise<void> {
  const { signal, log } = request;
  signal.throwIfAborted();
  const { sandbox, user } = confinement;
  const surroundings = sandbox.surroundings(dirs);
  const child = Bun.spawn(sandbox.command(dirs, [...READING_SHELL, command.command]), {
    cwd: surroundings.spawnFolder,
    env: SYSTEM_PATH,
    detached: true,
    stdio: [new TextEncoder().encode(environmentFor(request, command.name, surroundings)), "pipe", "pipe"],
  });
  const tree: Tree = {
    isUp: () => child.exitCode === null && child.signalCode === null,
    launcher: () => (tree.isUp() ? child.pid : undefined),
    launcherNotes: false,
    depth: sandbox.depth - 1,
    strayHome: sandbox.endsWhole ? undefined : dirs.home,
    user,
  };
  const kill = () => void killTree(tree).catch(() => {});
  const lines: string[] = [];
  const take = (stream: "stdout" | "stderr") => (line: string) => {
    if (lines.push(line) > TELLING_LINES) lines.shift();
    return log(line, stream);
  };
  signal.addEventListener("abort", kill);
  try {
    const reading = Promise.all([
      follow(child.stdout, take("stdout"), signal),
      follow(child.stderr, take("stderr"), signal),
    ]);
    const [code] = await Promise.all([ended(child, tree), reading]);
    signal.throwIfAborted();
    if (code !== 0) throw commandFailure(command.name, { code, lines });
  } finally {
    signal.removeEventListener("abort", kill);
    await killTree(tree);
  }
}

/** Processes that an earlier build with this home left running. */
function strays(home: string, { sandbox, user }: Confinement): Tree {
  const strayHome = sandbox.endsWhole ? undefined : home;
  return { isUp: () => false, launcher: () => undefined, launcherNotes: false, depth: 1, strayHome, user };
}

/** Returns the exit code once the command and its background processes have ended. */
async function ended(child: Bun.Subprocess, tree: Tree): Promise<number> {
  const code = await child.exited;
  await killTree(tree);
  return code;
}

function environmentFor(
  request: BuildRequest,
  name: "install" | "build",
  surroundings: Parameters<typeof environmentText>[1],
) {
  // Package managers skip dev dependencies, which builds need, when NODE_ENV is "production".
  const defaults: Record<string, string> = name === "build" ? { NODE_ENV: "production" } : {};
  return environmentText(request.environment, surroundings, { defaults, fixed: { CI: "1" } });
}

async function follow(
  stream: ReadableStream<Uint8Array>,
  log: (line: string) => void | Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const splitter = new LineSplitter();
  for await (const bytes of stream) {
    for (const line of splitter.push(bytes)) {
      const pause = log(line);
      if (pause) await pause;
    }
    if (signal.aborted) break;
  }
  for (const line of splitter.flush()) await log(line);
}
