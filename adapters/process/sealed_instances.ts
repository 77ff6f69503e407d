import { join } from "node:path";
import { Failure } from "../../domain/failure.ts";
import type { SealedRows } from "../../ports/system/sealed_rows.ts";
import type { Vault } from "../../ports/system/vault.ts";
import { waitForFile } from "../shared/file_lock.ts";
import type { InstanceFolder, InstanceRecord } from "./instance_folder.ts";
import { environmentPlace } from "./supervised_instance.ts";
import { instanceFolders, STARTING } from "./supervisor.ts";

/** Options of `SealedInstances`. */
export interface SealedInstancesOptions {
  /** The `instances` folder in the data folder. */
  readonly folder: string;
  readonly vault: Vault;
}

/**
 * Re-encrypts the environments of the instances in a folder, whichever process supervises them. The programs keep
 * running.
 */
export class SealedInstances implements SealedRows {
  readonly #folder: string;
  readonly #vault: Vault;

  constructor({ folder, vault }: SealedInstancesOptions) {
    this.#folder = folder;
    this.#vault = vault;
  }

  async countByKey(): Promise<ReadonlyMap<string, number>> {
    const records = (await this.#instances()).flatMap((folder) => neededRecord(folder) ?? []);
    const byKey = Map.groupBy(records, keyOf);
    return new Map(byKey.entries().map(([key, sealed]) => [key, sealed.length]));
  }

  async reseal(limit: number): Promise<number> {
    let done = 0;
    let unreadable: Failure | undefined;
    for (const folder of await this.#instances()) {
      if (done === limit) break;
      try {
        if (await this.#sealAnew(folder)) done++;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        unreadable = error;
      }
    }
    // Records that cannot be decrypted do not block the others. Their error is thrown only once nothing else is left.
    if (done === 0 && unreadable) throw unreadable;
    return done;
  }

  async #sealAnew(folder: InstanceFolder): Promise<boolean> {
    if (!this.#isOutdated(neededRecord(folder))) return false;
    // Locks the instance, so that it cannot be removed and recreated with the same id in between.
    using held = await folder.hold();
    const record = held && neededRecord(folder);
    if (!this.#isOutdated(record)) return false;
    const place = environmentPlace(record.instanceId);
    const environment = await this.#vault.seal(await this.#vault.open(record.environment, place), place);
    await folder.writeRecord({ ...record, environment });
    return true;
  }

  #isOutdated(record: InstanceRecord | undefined): record is InstanceRecord {
    return record !== undefined && keyOf(record) !== this.#vault.keyId();
  }

  /** Returns all instances, including those still being created whose environment was encrypted before the call. */
  async #instances(): Promise<readonly InstanceFolder[]> {
    using _ = await waitForFile(join(this.#folder, STARTING));
    return instanceFolders(this.#folder);
  }
}

/** Returns the record that an instance restarts from, or `undefined` for a removed instance. */
function neededRecord(folder: InstanceFolder): InstanceRecord | undefined {
  return folder.state()?.phase === "removed" ? undefined : folder.record();
}

function keyOf({ environment }: InstanceRecord): string {
  return environment.split(".")[1] ?? "";
}
