/** An IP address as its bytes: four of IPv4, sixteen of IPv6. */
export type NetworkAddress = readonly number[];

/** An address range: the first bits of every address in it. */
interface Range {
  readonly start: NetworkAddress;
  readonly bits: number;
}

const DECIMAL_BYTE = /^(?:0|[1-9]\d{0,2})$/;
const HEX_GROUP = /^[0-9a-f]{1,4}$/i;
const HOST_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;

/** Parses an IP address; `undefined` for octal, hexadecimal or shortened IPv4, zone ids and everything else. */
export function parseAddress(text: string): NetworkAddress | undefined {
  return text.includes(":") ? parseIpv6(text) : parseIpv4(text);
}

/** Returns whether the string is a public internet address; an IPv4 address embedded in it must be public too. */
export function isPublicAddress(ip: string): boolean {
  const address = parseAddress(ip);
  if (!address) return false;
  if (address.length === 4) return isPublicIpv4(address);
  if (IPV4_CARRIERS.some((carrier) => inside(address, carrier))) return isPublicIpv4(address.slice(12));
  return inside(address, GLOBAL_UNICAST) && !RESERVED_IPV6.some((reserved) => inside(address, reserved));
}

/** Returns whether the string is an address that leads to the machine itself. */
export function isLoopbackAddress(ip: string): boolean {
  return inNetwork(ip, "127.0.0.0/8") || inNetwork(ip, "::1") || inNetwork(ip, "::ffff:127.0.0.0/104");
}

/** Returns whether an address lies in a network such as `10.0.0.0/8`, or equals it when it is a single address. */
export function inNetwork(address: string, network: string): boolean {
  const bytes = parseAddress(address);
  const { start, bits } = range(network);
  return (
    bytes !== undefined &&
    start.length > 0 &&
    inside(bytes, { start, bits: Number.isNaN(bits) ? start.length * 8 : bits })
  );
}

/**
 * Returns the key that identifies one client: an IPv4 address, or the /64 of an IPv6 address, because one household can
 * choose freely within its /64.
 */
export function networkOf(address: string): string {
  const bytes = parseAddress(address);
  if (bytes?.length !== 16) return address;
  return `${Uint8Array.from(bytes.slice(0, 8)).toHex()}::/64`;
}

/** Returns whether the string is an IP address, or a CIDR network with a valid prefix length. */
export function isNetwork(text: string): boolean {
  const [address = "", bits, ...rest] = text.split("/");
  const length = (parseAddress(address)?.length ?? 0) * 8;
  return length > 0 && rest.length === 0 && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= length));
}

/** Returns whether the string is a host name by RFC 1123 and no notation of an IPv4 address. */
export function isHostName(text: string): boolean {
  const labels = text.endsWith(".") ? text.slice(0, -1).split(".") : text.split(".");
  // Resolvers parse a numeric last label as an IPv4 address: "127.1", "0x7f.0.0.1", "2130706433".
  const last = labels.at(-1) ?? "";
  return text.length <= 253 && labels.every((label) => HOST_LABEL.test(label)) && !/^(?:\d+|0x[0-9a-f]*)$/i.test(last);
}

function parseIpv4(text: string): NetworkAddress | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => DECIMAL_BYTE.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

function parseIpv6(text: string): NetworkAddress | undefined {
  const sides = text.split("::");
  if (sides.length > 2) return undefined;
  const [head, tail] = sides.map((side, index) => groupBytes(side, index === sides.length - 1));
  if (!head) return undefined;
  if (sides.length === 1) return head.length === 16 ? head : undefined;
  // "::" stands for at least one group of zeros.
  if (!tail || head.length + tail.length > 14) return undefined;
  return [...head, ...Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

/** Parses colon-separated groups to bytes; only the end of the address may be a dotted IPv4 address. */
function groupBytes(side: string, isEnd: boolean): number[] | undefined {
  if (side === "") return [];
  const bytes: number[] = [];
  const groups = side.split(":");
  for (const [index, group] of groups.entries()) {
    const dotted = isEnd && index === groups.length - 1 ? parseIpv4(group) : undefined;
    if (dotted) bytes.push(...dotted);
    else if (HEX_GROUP.test(group)) bytes.push(Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff);
    else return undefined;
  }
  return bytes;
}

function isPublicIpv4(address: NetworkAddress): boolean {
  return !RESERVED_IPV4.some((reserved) => inside(address, reserved));
}

function inside(address: NetworkAddress, { start, bits }: Range): boolean {
  if (address.length !== start.length) return false;
  return start.every((byte, index) => {
    const shift = 8 - Math.min(8, Math.max(0, bits - index * 8));
    return byte >> shift === (address[index] ?? 0) >> shift;
  });
}

function range(text: string): Range {
  const [address = "", bits] = text.split("/");
  return { start: parseAddress(address) ?? [], bits: Number(bits) };
}

const GLOBAL_UNICAST = range("2000::/3");

/** IPv4-mapped and NAT64 addresses: packets to them arrive at the IPv4 address in their last four bytes. */
const IPV4_CARRIERS = ["::ffff:0:0/96", "64:ff9b::/96"].map(range);

/** Ranges that IANA's special-purpose registry excludes from the public IPv4 internet. */
const RESERVED_IPV4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
].map(range);

/**
 * Ranges that the same registry excludes from 2000::/3. Teredo (in 2001::/23) and 6to4 (2002::/16) are refused
 * entirely: they are obsolete, and can embed any IPv4 address.
 */
const RESERVED_IPV6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"].map(range);
