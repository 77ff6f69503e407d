import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { SourceLinks } from "../../domain/deployments/source_links.ts";
import { Failure, invalid } from "../../domain/failure.ts";
import { type Commit, NO_COMMIT } from "../../domain/deployments/commit.ts";
import type { FetchableSource, FetchTarget, Sources } from "../../ports/projects/sources.ts";
import { type CopiedEntry, copyTree } from "./copy_tree.ts";
import { absentAsUndefined } from "./folder_tree.ts";
import { storageFailure } from "./storage_failure.ts";
import { errorCode } from "../shared/error_code.ts";

/** Limits of a local folder to deploy. */
export interface FolderLimits {
  readonly maxBytes: number;
  readonly maxEntries: number;
}

export interface LocalFolderOptions {
  /** The server's own data folder, which is never a source or part of one. */
  readonly dataFolder: string;
  readonly limits?: FolderLimits;
}

const LIMITS: FolderLimits = { maxBytes: 16 * 1_024 ** 3, maxEntries: 1_000_000 };
const LEFT_OUT = new Set([".git", "node_modules"]);

/** Copies a folder of this machine, without `.git` and `node_modules`, under the same rules as uploads. */
export class LocalFolderSources implements Sources<"local"> {
  readonly #options: LocalFolderOptions;

  constructor(options: LocalFolderOptions) {
    this.#options = options;
  }

  async fetch({ path }: Extract<FetchableSource, { kind: "local" }>, into: FetchTarget): Promise<Commit> {
    into.signal.throwIfAborted();
    const from = await absentAsUndefined(() => realpath(path));
    const data = (await absentAsUndefined(() => realpath(this.#options.dataFolder))) ?? this.#options.dataFolder;
    if (from === undefined) throw noFolder();
    if (from === data || from.startsWith(`${data}/`)) {
      throw invalid("local_source_refused", "Cannot copy the folder: it contains Slipway's own data");
    }
    const intake = new FolderIntake(this.#options.limits ?? LIMITS, (entry) => join(from, entry) === data);
    try {
      await copyTree(from, into.folder, {
        signal: into.signal,
        accept: (entry) => intake.accept(entry),
        beforeLinks: () => intake.links.check(),
      });
    } catch (error) {
      if (into.signal.aborted) throw into.signal.reason;
      if (["ENOENT", "ENOTDIR", "EACCES"].includes(errorCode(error))) throw noFolder(error);
      throw storageFailure("copy the folder", error);
    }
    await into.log(`Copied ${intake.files} files`, "stdout");
    return NO_COMMIT;
  }
}

/** Counts and validates the entries of one folder. */
class FolderIntake {
  readonly #limits: FolderLimits;
  readonly #isData: (path: string) => boolean;
  readonly links = new SourceLinks();
  #bytes = 0;
  #entries = 0;
  files = 0;

  constructor(limits: FolderLimits, isData: (path: string) => boolean) {
    this.#limits = limits;
    this.#isData = isData;
  }

  accept({ path, type, size, target }: CopiedEntry): boolean {
    if (LEFT_OUT.has(path.slice(path.lastIndexOf("/") + 1)) || this.#isData(path)) return false;
    this.#count(size);
    if (type === "special") {
      const reason = `${JSON.stringify(path)} is a device, pipe or socket; move it elsewhere`;
      throw invalid("source_entry_refused", `Cannot copy the folder: ${reason}`);
    }
    if (type === "folder") this.links.folder(path);
    if (type === "file") this.files += 1;
    if (type === "link") this.links.link(path, target);
    return true;
  }

  #count(size: number): void {
    this.#entries += 1;
    this.#bytes += size;
    const { maxBytes, maxEntries } = this.#limits;
    if (this.#entries > maxEntries) throw beyond(`it contains more than ${maxEntries} files and folders`);
    if (this.#bytes > maxBytes) throw beyond(`it contains more than ${maxBytes} bytes`);
  }
}

function beyond(reason: string): Failure {
  return new Failure("too_large", "source_too_large", `Cannot copy the folder: ${reason}; deploy a smaller part of it`);
}

function noFolder(cause?: unknown): Failure {
  return invalid("local_source_gone", "Cannot copy the folder: there is no readable folder of this name", { cause });
}
