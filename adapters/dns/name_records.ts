import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { Failure } from "../../domain/failure.ts";
import type { NameRecords } from "../../ports/domains/name_records.ts";

/** Name servers and timeout of DNS lookups. */
export interface DnsNameRecordsOptions {
  /** IP addresses with an optional port. Defaults to the system's resolver, including its hosts file. */
  readonly servers?: readonly string[] | undefined;
  /** Timeout of a whole lookup. Defaults to 5 s. */
  readonly timeoutMs?: number | undefined;
}

const DEFAULT_TIMEOUT_MS = 5000;
const TRIES = 2;
const MAX_PART_BYTES = 255;

/** Error codes for a name or record type that does not exist. */
const ABSENT = new Set(["ENOTFOUND", "ENODATA", "EBADNAME"]);

/** Resolves names with the system's resolver or with given name servers. */
export class DnsNameRecords implements NameRecords {
  readonly #servers: readonly string[] | undefined;
  readonly #timeoutMs: number;

  constructor({ servers, timeoutMs = DEFAULT_TIMEOUT_MS }: DnsNameRecordsOptions = {}) {
    this.#servers = servers;
    this.#timeoutMs = timeoutMs;
  }

  async addresses(host: string, options: { readonly signal?: AbortSignal } = {}): Promise<readonly string[]> {
    if (isIP(host) !== 0) return [host];
    return this.#bounded(host, options.signal, async (resolver) => {
      if (!this.#servers) return (await lookup(host, { all: true })).map(({ address }) => address);
      const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
      const found = [four, six].flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      const failed = [four, six].find((answer) => answer.status === "rejected" && !isAbsent(answer.reason));
      // One address family is enough. No address at all may be a failure of the server.
      if (found.length === 0 && failed?.status === "rejected") throw failed.reason;
      return found;
    });
  }

  async texts(name: string, options: { readonly signal?: AbortSignal } = {}): Promise<readonly string[]> {
    return this.#bounded(name, options.signal, async (resolver) => {
      const records = await resolver.resolveTxt(name);
      return joined(records.flat());
    });
  }

  async #bounded(
    name: string,
    signal: AbortSignal | undefined,
    ask: (resolver: Resolver) => Promise<string[]>,
  ): Promise<string[]> {
    if (name === "" || /[\s\p{Cc}]/u.test(name)) return [];
    const resolver = new Resolver({ timeout: Math.ceil(this.#timeoutMs / TRIES), tries: TRIES });
    if (this.#servers) resolver.setServers([...this.#servers]);
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("No name server answered in time")), this.#timeoutMs);
    const cancel = () => reject(new Error("The lookup was cancelled"));
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      signal?.throwIfAborted();
      return await Promise.race([ended, ask(resolver)]);
    } catch (error) {
      if (isAbsent(error)) return [];
      throw lookupFailed(name, error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", cancel);
      resolver.cancel();
    }
  }
}

/**
 * Reassembles long TXT records: Bun 1.4 returns each part of a record as its own record, in order. Parts are filled to
 * 255 bytes before another is begun.
 */
function joined(parts: readonly string[]): string[] {
  const records: string[] = [];
  let open = false;
  for (const part of parts) {
    records.push((open ? records.pop() : "") + part);
    open = Buffer.byteLength(part) === MAX_PART_BYTES;
  }
  return records;
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && ABSENT.has(String(error.code));
}

function lookupFailed(name: string, cause: unknown): Failure {
  const message = `Cannot look up "${name}": no name server answered. Check the network and the name server, then try again.`;
  return new Failure("unavailable", "name_lookup_failed", message, { cause });
}
