import type { Certificate } from "../../domain/certificates/certificate.ts";
import type { Certificates } from "../../ports/domains/certificates.ts";
import type { MemoryTables } from "./memory_tables.ts";

/** Reads certificates from memory. */
export class MemoryCertificates implements Certificates {
  readonly #tables: MemoryTables;

  constructor(tables: MemoryTables) {
    this.#tables = tables;
  }

  async list(): Promise<readonly Certificate[]> {
    const { domains, certificates } = this.#tables;
    const found = [...domains.values()].flatMap(({ id }) => certificates.certificates.get(id) ?? []);
    return found.toSorted((a, b) => (a.hostname < b.hostname ? -1 : 1));
  }

  async find(hostname: string): Promise<Certificate | undefined> {
    return (await this.list()).find((certificate) => certificate.hostname === hostname);
  }

  onChange(handler: (hostname: string | null) => unknown): () => void {
    const { changeHandlers } = this.#tables.certificates;
    const own = (hostname: string | null) => handler(hostname);
    changeHandlers.add(own);
    return () => changeHandlers.delete(own);
  }

  async followed(limitMs: number): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<false>();
    const timer = setTimeout(() => resolve(false), limitMs);
    const done = Promise.all(this.#tables.certificates.work).then(() => true);
    return Promise.race([done, late]).finally(() => clearTimeout(timer));
  }
}
