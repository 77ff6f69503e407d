import { Failure } from "../../domain/failure.ts";
import { parseAddress } from "../../domain/network_address.ts";
import type { NameRecords } from "../../ports/domains/name_records.ts";

/** The DNS records of a simulated name. `silent` makes its lookups fail. */
export interface MemoryName {
  readonly addresses?: readonly string[];
  readonly texts?: readonly string[];
  readonly silent?: boolean;
}

/** Keeps DNS records in memory. Names are case-insensitive. */
export class MemoryNameRecords implements NameRecords {
  readonly #names = new Map<string, MemoryName>();

  constructor(names: Readonly<Record<string, MemoryName>> = {}) {
    for (const [name, records] of Object.entries(names)) this.set(name, records);
  }

  /** Replaces all records of a name. */
  set(name: string, records: MemoryName): void {
    this.#names.set(name.toLowerCase(), records);
  }

  async addresses(host: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly string[]> {
    if (parseAddress(host)) return [host];
    return [...(this.#find(host, signal).addresses ?? [])];
  }

  async texts(name: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<readonly string[]> {
    return [...(this.#find(name, signal).texts ?? [])];
  }

  #find(name: string, signal: AbortSignal | undefined): MemoryName {
    const records = this.#names.get(name.toLowerCase()) ?? {};
    if (!records.silent && !signal?.aborted) return records;
    throw new Failure("unavailable", "name_lookup_failed", `Cannot look up "${name}": no name server answered.`);
  }
}
