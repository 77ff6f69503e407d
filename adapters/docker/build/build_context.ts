import type { Dirent } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { shown } from "../../../domain/archive/refusal.ts";
import { type Failure, invalid } from "../../../domain/failure.ts";
import type { ImageRequest } from "../../../ports/deployments/image_builder.ts";
import { type ContextEntry, contextEntry } from "./context_entry.ts";
import { ContextLinks } from "./context_links.ts";
import { DockerIgnore, type Verdict } from "./docker_ignore.ts";
import { readInside, refusedPath } from "./read_inside.ts";

/** The input files of a build. */
export interface BuildContext {
  /** The real path of the folder, free of symlinks. */
  readonly root: string;
  /** All entries that are sent: each folder before its content, names in byte order. */
  readonly entries: readonly ContextEntry[];
  readonly dockerfile: { readonly name: string; readonly bytes: Uint8Array };
}

type ContextRequest = Pick<ImageRequest, "folder" | "within" | "dockerfile"> & Partial<Pick<ImageRequest, "signal">>;

const ENTRIES_AT_ONCE = 64;
/** How long to occupy the event loop before yielding. */
const BUSY_MS = 20;
const GENERATED_NAME = "Dockerfile";

/**
 * Collects the input files of a build, and refuses symlinks that lead out of the folder. Reads no content but the
 * Dockerfile and the ignore rules.
 */
export async function buildContext({ folder, within, dockerfile, signal }: ContextRequest): Promise<BuildContext> {
  const generated = "text" in dockerfile;
  const name = generated ? GENERATED_NAME : dockerfile.path;
  if (!generated && !isInside(name)) throw refusedPath(name);
  const root = await placeOf(folder);
  if (within !== undefined && !`${root}${sep}`.startsWith(`${await placeOf(within)}${sep}`)) throw leadsOut();
  const own = generated ? new TextEncoder().encode(dockerfile.text) : await readInside(root, name);
  if (!own) throw invalid("build_failed", `Cannot build: there is no file ${shown(name)}; set dockerfile to its path`);
  const ignored =
    (generated ? undefined : await readInside(root, `${name}.dockerignore`)) ??
    (await readInside(root, ".dockerignore"));
  const walk = new ContextWalk(root, {
    ignore: new DockerIgnore(new TextDecoder().decode(ignored)),
    without: new Set(generated ? dockerfile.without : []),
    ...(signal && { signal }),
  });
  return { root, entries: await walk.entries(), dockerfile: { name: name.split("/").at(-1)!, bytes: own } };
}

/** Returns the real path of a folder, free of symlinks. */
function placeOf(folder: string): Promise<string> {
  return realpath(folder).catch((cause: unknown) => {
    throw invalid("build_failed", "Cannot build: the folder with its files is gone; deploy again", { cause });
  });
}

function leadsOut(): Failure {
  return invalid(
    "link_outside",
    "Cannot build: its folder is a link that leads out of the source; use a folder inside it",
  );
}

interface WalkRules {
  readonly ignore: DockerIgnore;
  /** Names to skip in every folder. */
  readonly without: ReadonlySet<string>;
  readonly signal?: AbortSignal;
}

class ContextWalk {
  readonly #root: string;
  readonly #rules: WalkRules;
  readonly #links = new ContextLinks();
  readonly #entries: ContextEntry[] = [];
  #since = performance.now();

  constructor(root: string, rules: WalkRules) {
    this.#root = root;
    this.#rules = rules;
  }

  async entries(): Promise<ContextEntry[]> {
    await this.#folder("", undefined, []);
    this.#links.check();
    return this.#entries;
  }

  /**
   * Adds the content of a folder; `pending` are ignored parent folders that are added only if something below them is.
   */
  async #folder(folder: string, verdict: Verdict | undefined, pending: readonly ContextEntry[]): Promise<void> {
    this.#rules.signal?.throwIfAborted();
    const names = await namesIn(join(this.#root, folder));
    let above = pending;
    for (let start = 0; start < names.length; start += ENTRIES_AT_ONCE) {
      const judged: Judged[] = [];
      for (const name of names.slice(start, start + ENTRIES_AT_ONCE)) {
        judged.push(...this.#judge(folder, name, verdict));
        await this.#letOthers();
      }
      const found = await Promise.all(judged.map(({ path }) => contextEntry(this.#root, path)));
      for (const [index, entry] of found.entries()) {
        if (entry) above = await this.#take(entry, judged[index]!.verdict, above);
      }
    }
  }

  /** Yields to the event loop: skipping ignored files never awaits, and there may be any number of them. */
  async #letOthers(): Promise<void> {
    if (performance.now() - this.#since < BUSY_MS) return;
    await new Promise((resolve) => setImmediate(resolve));
    this.#rules.signal?.throwIfAborted();
    this.#since = performance.now();
  }

  #judge(folder: string, { name, isFolder }: Name, above: Verdict | undefined): Judged[] {
    const path = folder === "" ? name : `${folder}/${name}`;
    const verdict = this.#rules.ignore.judge(path, above);
    const passedOver = verdict.ignored && !(isFolder && this.#rules.ignore.mayTakeBack(path));
    return passedOver || this.#rules.without.has(name) ? [] : [{ path, verdict }];
  }

  /** Adds an entry; returns the parent folders that are still pending. */
  async #take(entry: ContextEntry, verdict: Verdict, above: readonly ContextEntry[]): Promise<readonly ContextEntry[]> {
    if (entry.kind === "folder") this.#links.folder(entry.path);
    if (verdict.ignored) {
      if (entry.kind !== "folder") return above;
      const before = this.#entries.length;
      await this.#folder(entry.path, verdict, [...above, entry]);
      return this.#entries.length > before ? [] : above;
    }
    this.#entries.push(...above, entry);
    if (entry.kind === "link") this.#links.link(entry.path, entry.target);
    if (entry.kind === "folder") await this.#folder(entry.path, verdict, []);
    return [];
  }
}

interface Judged {
  readonly path: string;
  readonly verdict: Verdict;
}

interface Name {
  readonly name: string;
  readonly isFolder: boolean;
}

async function namesIn(folder: string): Promise<Name[]> {
  const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch((cause: unknown) => {
    throw invalid("context_changed", "Cannot build: a folder disappeared or cannot be read; deploy again", { cause });
  });
  const names = entries.map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  // UTF-16 code units sort like UTF-8 bytes, except beyond the first plane (BMP).
  const compare = entries.every(({ name }) => isPlain(name)) ? compareUnits : compareBytes;
  return names.sort((a, b) => compare(a.name, b.name));
}

function isPlain(name: string): boolean {
  return !/[\ud800-\uffff]/.test(name);
}

function compareUnits(a: string, b: string): number {
  return a < b ? -1 : 1;
}

function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function isInside(path: string): boolean {
  return path !== "" && !path.startsWith("/") && !path.includes("\0") && !path.split("/").includes("..");
}
