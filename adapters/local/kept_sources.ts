import { randomUUID } from "node:crypto";
import { lstat, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { invalidField } from "../../domain/failure.ts";
import type { KeptSources } from "../../ports/projects/kept_sources.ts";
import { copyTree } from "./copy_tree.ts";
import { absentAsUndefined, entriesOf } from "./folder_tree.ts";
import { removeTree } from "./remove_tree.ts";
import { onDisk, storageFailure } from "./storage_failure.ts";
import { errorCode } from "../shared/error_code.ts";

const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
/** The name of a source that is being written, or to be removed. */
const ASIDE = /^([A-Za-z0-9][A-Za-z0-9_-]{0,127})\.[0-9a-f-]{36}\.(?:part|removed)$/;
const SWAP_ATTEMPTS = 16;

/**
 * Keeps each source in `<folder>/<id>`. It is written to a `.part` folder beside that and renamed when complete.
 * Deployments share files as hard links, which is safe because they are never written to.
 */
export class LocalKeptSources implements KeptSources {
  readonly #folder: string;

  /** `folder` is absolute; it is created if missing. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async keep(deploymentId: string, fill: (folder: string) => Promise<void>): Promise<void> {
    const home = this.#home(deploymentId);
    if (home === undefined) throw invalidField("deploymentId", "it is not the id of a deployment");
    const part = `${home}.${randomUUID()}.part`;
    try {
      await onDisk("keep the source", async () => void (await mkdir(part, { recursive: true })));
      await fill(part);
      await onDisk("keep the source", () => this.#replace(home, part));
    } catch (error) {
      // Leftovers are found by `list()`; the caller must get the first failure.
      await removeTree(part).catch(() => {});
      throw error;
    }
  }

  async share(
    fromDeploymentId: string,
    toDeploymentId: string,
    { confirm }: { readonly confirm?: () => Promise<void> } = {},
  ): Promise<boolean> {
    const from = this.#home(fromDeploymentId);
    const before = from === undefined ? undefined : await inodeOf(from);
    if (from === undefined || before === undefined) return false;
    const gone = new Error("The source was removed while it was shared");
    try {
      await this.keep(toDeploymentId, async (part) => {
        await onDisk("share the source", () => copyTree(from, part, { share: true }));
        // If the source was removed or replaced meanwhile, the copy may be incomplete.
        if ((await inodeOf(from)) !== before) throw gone;
        await confirm?.();
      });
    } catch (error) {
      if (error === gone) return false;
      throw error;
    }
    return true;
  }

  async copyTo(
    deploymentId: string,
    folder: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<boolean> {
    const home = this.#home(deploymentId);
    const before = home === undefined ? undefined : await inodeOf(home);
    if (home === undefined || before === undefined) return false;
    await copyTree(home, folder, options).catch((error: unknown) => {
      throw options.signal?.aborted ? options.signal.reason : storageFailure("copy the source", error);
    });
    return (await inodeOf(home)) === before;
  }

  async has(deploymentId: string): Promise<boolean> {
    const home = this.#home(deploymentId);
    return home !== undefined && (await inodeOf(home)) !== undefined;
  }

  async remove(deploymentId: string): Promise<void> {
    const home = this.#home(deploymentId);
    if (home === undefined) return;
    await onDisk("remove the source", async () => {
      await this.#putAside(home);
      for (const { name } of await entriesOf(this.#folder)) {
        if (ASIDE.exec(name)?.[1] === deploymentId) await removeTree(join(this.#folder, name));
      }
    });
  }

  async *list(): AsyncGenerator<string> {
    const names = (await entriesOf(this.#folder)).map(({ name }) => ASIDE.exec(name)?.[1] ?? name);
    for (const name of new Set(names)) if (SAFE_ID.test(name)) yield name;
  }

  /** Replaces the kept source by `part`; of two concurrent calls the later one wins. */
  async #replace(home: string, part: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const former = await this.#putAside(home);
      try {
        return await rename(part, home);
      } catch (error) {
        if (!["ENOTEMPTY", "EEXIST"].includes(errorCode(error)) || attempt === SWAP_ATTEMPTS) throw error;
      } finally {
        // Leftovers are found by `list()`.
        if (former !== undefined) await removeTree(former).catch(() => {});
      }
    }
  }

  /** Renames the kept source, if any, so that it no longer exists from then on. */
  async #putAside(home: string): Promise<string | undefined> {
    const aside = `${home}.${randomUUID()}.removed`;
    return absentAsUndefined(() => rename(home, aside).then(() => aside));
  }

  /** The folder of an id; `undefined` for text that is no valid id, and so never exists. */
  #home(id: string): string | undefined {
    return SAFE_ID.test(id) ? join(this.#folder, id) : undefined;
  }
}

/** The inode of a folder, to detect its replacement; `undefined` if it is missing. */
async function inodeOf(folder: string): Promise<number | undefined> {
  const found = await absentAsUndefined(() => lstat(folder));
  return found?.isDirectory() ? found.ino : undefined;
}
