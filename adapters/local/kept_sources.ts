import { randomUUID } from "node:crypto";
import { lstat, mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { invalidField } from "../../domain/failure.ts";
import type { KeptSources } from "../../ports/projects/kept_sources.ts";
import { copyTree } from "./copy_tree.ts";
import { absentAsUndefined, codeOf, entriesOf } from "./folder_tree.ts";
import { removeTree } from "./remove_tree.ts";
import { storageFailure } from "./storage_failure.ts";

const SAFE_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
/** A source that is being filled, or that has to go. */
const ASIDE = /^([A-Za-z0-9][A-Za-z0-9_-]{0,127})\.[0-9a-f-]{36}\.(?:part|removed)$/;
const SWAP_ATTEMPTS = 16;

/**
 * Keeps each source in `<folder>/<id>`, filled in a `.part` folder beside it and moved there when it is complete. Deployments that share files share them as hard
 * links, which is safe because nobody writes to them.
 */
export class LocalKeptSources implements KeptSources {
  readonly #folder: string;

  /** `folder` is absolute; it is created when needed. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async keep(deploymentId: string, fill: (folder: string) => Promise<void>): Promise<void> {
    const home = this.#home(deploymentId);
    if (home === undefined) throw invalidField("deploymentId", "it is not the id of a deployment");
    const part = `${home}.${randomUUID()}.part`;
    try {
      await failing("keep the source", async () => void (await mkdir(part, { recursive: true })));
      await fill(part);
      await failing("keep the source", () => this.#replace(home, part));
    } catch (error) {
      // What cannot be removed now is found by `list()`; the caller has to hear of the first failure.
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
        await failing("share the source", () => copyTree(from, part, { share: true }));
        // Removed or replaced meanwhile, some of it may be missing.
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
    await failing("remove the source", async () => {
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

  /** Puts `part` in the place of what is kept; of two at the same time the later one stays. */
  async #replace(home: string, part: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const former = await this.#putAside(home);
      try {
        return await rename(part, home);
      } catch (error) {
        if (!["ENOTEMPTY", "EEXIST"].includes(codeOf(error)) || attempt === SWAP_ATTEMPTS) throw error;
      } finally {
        // What cannot be removed now is found by `list()`.
        if (former !== undefined) await removeTree(former).catch(() => {});
      }
    }
  }

  /** Moves what is kept away, if there is something: from then on it is not there any more. */
  async #putAside(home: string): Promise<string | undefined> {
    const aside = `${home}.${randomUUID()}.removed`;
    return absentAsUndefined(() => rename(home, aside).then(() => aside));
  }

  /** The folder of an id, or `undefined` for a word that can be no id and so is never there. */
  #home(id: string): string | undefined {
    return SAFE_ID.test(id) ? join(this.#folder, id) : undefined;
  }
}

/** What tells a folder from another one that takes its place; `undefined` when there is none. */
async function inodeOf(folder: string): Promise<number | undefined> {
  const found = await absentAsUndefined(() => lstat(folder));
  return found?.isDirectory() ? found.ino : undefined;
}

async function failing<T>(action: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageFailure(action, error);
  }
}
