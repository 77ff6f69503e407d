import type { Notation } from "./notation.ts";

/** What is said about ports in one short entry. */
export interface PortEntry {
  /** The ports inside, in their order. */
  readonly ports: readonly number[];
  readonly protocol: "tcp" | "udp" | "sctp";
  /** The ports of the machine that were asked for, as they were written; `null` when none were. */
  readonly published: string | null;
}

const ENTRY =
  /^(?:(?:(\[[0-9a-f:.]+\]|[0-9a-f:.]+|localhost):)?(\d{0,5}(?:-\d{1,5})?):)?(\d{1,5}(?:-\d{1,5})?)(?:\/(\w+))?$/i;
const FORMS = 'give a port as in 80, "8080:80", "127.0.0.1:53:53/udp" or "3000-3005"';

/** Reads an entry such as `80`, `8080:80`, `127.0.0.1:53:53/udp` or `3000-3005:3000-3005`. */
export function portEntry(given: string | number): Notation<PortEntry> {
  const [, address, published, inside, protocol = "tcp"] = ENTRY.exec(String(given).trim()) ?? [];
  if (inside === undefined) return { wrong: FORMS };
  if (address !== undefined && !isAddress(address)) return { wrong: FORMS };
  const ports = rangeOf(inside);
  const outside = published ? rangeOf(published) : [];
  if (!ports || !outside) return { wrong: "ports lie between 1 and 65535, and a range goes upwards" };
  const word = protocol.toLowerCase();
  if (word !== "tcp" && word !== "udp" && word !== "sctp") return { wrong: "after the / stands tcp or udp" };
  if (ports.length > 1 && outside.length > 0 && outside.length !== ports.length)
    return { wrong: "both ranges need the same length" };
  return { value: { ports, protocol: word, published: published || null } };
}

function rangeOf(text: string): readonly number[] | undefined {
  const [first = 0, last = first] = text.split("-").map(Number);
  if (first < 1 || last > 65_535 || last < first) return undefined;
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Tells a number and dots or colons from an address of this machine. */
function isAddress(text: string): boolean {
  if (text.toLowerCase() === "localhost") return true;
  const bare = text.replace(/^\[|\]$/g, "");
  if (bare.includes(":")) return URL.canParse(`http://[${bare}]/`);
  return /^\d{1,3}(?:\.\d{1,3}){3}$/.test(bare) && bare.split(".").every((part) => Number(part) <= 255);
}
