import type { Notation } from "./notation.ts";

/** A parsed port entry. */
export interface PortEntry {
  /** The container ports in order; of a range longer than the limit, only the first 101. */
  readonly ports: readonly number[];
  readonly protocol: "tcp" | "udp" | "sctp";
  /** The requested host ports, as written; `null` if there are none. */
  readonly published: string | null;
  /** The address of the host that they are published on; `null` for all. */
  readonly address: string | null;
}

const ENTRY =
  /^(?:(?:(\[[0-9a-f:.]+\]|[0-9a-f:.]+|localhost):)?(\d{0,5}(?:-\d{1,5})?):)?(\d{1,5}(?:-\d{1,5})?)(?:\/(\w+))?$/i;
/** One more than a service may have, to exceed its limit; the rest of a longer range would only use memory. */
const MOST_PORTS = 101;
const FORMS = 'give a port as in 80, "8080:80", "127.0.0.1:53:53/udp" or "3000-3005"';

/** Parses an entry such as `80`, `8080:80`, `127.0.0.1:53:53/udp` or `3000-3005:3000-3005`. */
export function portEntry(given: string | number): Notation<PortEntry> {
  const [, address, published, inside, protocol = "tcp"] = ENTRY.exec(String(given).trim()) ?? [];
  if (inside === undefined) return { wrong: FORMS };
  if (address !== undefined && !isAddress(address)) return { wrong: FORMS };
  const ports = rangeOf(inside);
  const outside = published ? rangeOf(published) : { first: 0, count: 0 };
  if (!ports || !outside) return { wrong: "ports are from 1 to 65535, and a range goes upwards" };
  const word = protocol.toLowerCase();
  if (word !== "tcp" && word !== "udp" && word !== "sctp") return { wrong: "after the / only tcp or udp is allowed" };
  if (ports.count > 1 && outside.count > 0 && outside.count !== ports.count)
    return { wrong: "both ranges need the same length" };
  return { value: { ports: firstOf(ports), protocol: word, published: published || null, address: address ?? null } };
}

interface PortRange {
  readonly first: number;
  readonly count: number;
}

function firstOf({ first, count }: PortRange): readonly number[] {
  return Array.from({ length: Math.min(count, MOST_PORTS) }, (_, index) => first + index);
}

function rangeOf(text: string): PortRange | undefined {
  const [first = 0, last = first] = text.split("-").map(Number);
  if (first < 1 || last > 65_535 || last < first) return undefined;
  return { first, count: last - first + 1 };
}

/** Returns whether a string of digits, dots and colons is an IP address; also accepts `localhost`. */
function isAddress(text: string): boolean {
  if (text.toLowerCase() === "localhost") return true;
  const bare = text.replace(/^\[|\]$/g, "");
  if (bare.includes(":")) return URL.canParse(`http://[${bare}]/`);
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(bare) && bare.split(".").every((part) => Number(part) <= 255);
}
