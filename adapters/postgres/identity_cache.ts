import type { Identity } from "../../domain/identity/identity.ts";
import type { PostgresSignals } from "./signals.ts";

const MAX_ENTRIES = 10_000;
const ALL = "*";

/**
 * Caches identities by the fingerprint of their credential, only while this process is notified of every change. Evicts
 * an entry at once when its credential or user changes, and all entries when a notification may have been missed.
 */
export class IdentityCache {
  readonly #signals: Pick<PostgresSignals, "live">;
  readonly #max: number;
  /** Least recently used first. */
  readonly #entries = { token: new Map<string, Identity>(), session: new Map<string, Identity>() };
  /** Fingerprints of the entries that depend on a credential or user, by its id. */
  readonly #dependents = new Map<string, Set<string>>();
  /** Counts invalidations, so that the result of a read that began before one is not cached. */
  #generation = 0;

  constructor(signals: Pick<PostgresSignals, "live" | "onReset" | "subscribe">, max = MAX_ENTRIES) {
    this.#signals = signals;
    this.#max = max;
    signals.subscribe("slipway_identity", (id) => (id === ALL ? this.#empty() : this.#drop(id)));
    signals.onReset(() => this.#empty());
  }

  get(kind: "token" | "session", fingerprint: string): Identity | undefined {
    const entries = this.#entries[kind];
    const identity = entries.get(fingerprint);
    if (!identity || !this.#signals.live) return undefined;
    entries.delete(fingerprint);
    entries.set(fingerprint, identity);
    return identity;
  }

  /**
   * Call before reading the database. The returned function caches the result, unless something was invalidated
   * meanwhile.
   */
  beginRead(): (fingerprint: string, identity: Identity) => void {
    const generation = this.#generation;
    return (fingerprint, identity) => {
      if (generation === this.#generation && this.#signals.live) this.#put(fingerprint, identity);
    };
  }

  #put(fingerprint: string, identity: Identity): void {
    const entries = this.#entries[identity.credential.kind];
    const [oldest] = entries.size < this.#max ? [] : entries;
    if (oldest) this.#remove(...oldest);
    entries.set(fingerprint, identity);
    for (const id of [identity.credential.id, identity.userId]) {
      const dependents = this.#dependents.get(id);
      if (dependents) dependents.add(fingerprint);
      else this.#dependents.set(id, new Set([fingerprint]));
    }
  }

  #drop(id: string): void {
    this.#generation++;
    for (const fingerprint of this.#dependents.get(id) ?? []) {
      for (const entries of Object.values(this.#entries)) {
        const identity = entries.get(fingerprint);
        if (identity) this.#remove(fingerprint, identity);
      }
    }
  }

  #remove(fingerprint: string, { credential, userId }: Identity): void {
    this.#entries[credential.kind].delete(fingerprint);
    for (const id of [credential.id, userId]) {
      const dependents = this.#dependents.get(id);
      dependents?.delete(fingerprint);
      if (dependents?.size === 0) this.#dependents.delete(id);
    }
  }

  #empty(): void {
    this.#generation++;
    this.#entries.token.clear();
    this.#entries.session.clear();
    this.#dependents.clear();
  }
}
