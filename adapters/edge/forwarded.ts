import { inNetwork, parseAddress } from "../../domain/network_address.ts";
import type { HeaderField } from "./header_fields.ts";

/** The remote peer of a connection. */
export interface Peer {
  readonly address: string;
  /** Whether its forwarding headers are trusted. */
  readonly trusted: boolean;
  readonly protocol: "http" | "https";
}

/** The peer of a connection from this address. */
export function peerOf(remoteAddress: string, protocol: Peer["protocol"], trustedProxies: readonly string[]): Peer {
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, "");
  return { address, protocol, trusted: trustedProxies.some((network) => inNetwork(address, network)) };
}

/**
 * Returns whether a header makes a claim about the client that only a trusted proxy may make. Treats `_` as `-`,
 * because apps do.
 */
export function isClaim(name: string): boolean {
  if (!name.startsWith("x") && name !== "forwarded") return false;
  const plain = name.replaceAll("_", "-");
  return plain.startsWith("x-forwarded") || plain === "forwarded" || plain === "x-real-ip";
}

/** Returns whether the client sent its request encrypted, to this edge or, as a trusted proxy says, to that proxy. */
export function arrivedEncrypted({ protocol, trusted }: Peer, fields: readonly HeaderField[]): boolean {
  if (protocol === "https" || !trusted) return protocol === "https";
  return fields.some(({ name, value }) => {
    if (name === "x-forwarded-proto") return /^https\s*(,|$)/i.test(value);
    return name === "forwarded" && /^[^,]*\bproto="?https\b/i.test(value);
  });
}

/** Returns the header lines that describe the client and its request to an app, each with its line end. */
export function forwardedFields(peer: Peer, host: string, fields: readonly HeaderField[]): string {
  const node = nodeOf(peer.address);
  if (!peer.trusted) {
    return (
      `X-Forwarded-For: ${peer.address}\r\nX-Forwarded-Proto: ${peer.protocol}\r\nX-Forwarded-Host: ${host}\r\n` +
      `Forwarded: for=${node};host="${host}";proto=${peer.protocol}\r\n`
    );
  }
  const said = (name: string) =>
    fields
      .filter((field) => field.name === name && field.value !== "")
      .map(({ value }) => value)
      .join(", ");
  const hops = said("x-forwarded-for");
  const protocol = said("x-forwarded-proto") || peer.protocol;
  const forwardedHost = said("x-forwarded-host") || host;
  const before = said("forwarded") || elementsOf(hops, forwardedHost, protocol);
  return (
    `X-Forwarded-For: ${hops && `${hops}, `}${peer.address}\r\n` +
    `X-Forwarded-Proto: ${protocol}\r\nX-Forwarded-Host: ${forwardedHost}\r\n` +
    `Forwarded: ${before && `${before}, `}for=${node};host="${host}";proto=${peer.protocol}\r\n`
  );
}

/**
 * Returns the `Forwarded` elements that say what the `X-Forwarded-*` headers of a proxy do: apps that read `Forwarded`
 * first would take that proxy for the client.
 */
function elementsOf(hops: string, host: string, protocol: string): string {
  if (hops === "") return "";
  const [proto = ""] = /^https?(?=\s*(,|$))/i.exec(protocol) ?? [];
  const request = `${/["\\,]/.test(host) ? "" : `;host="${host}"`}${proto && `;proto=${proto.toLowerCase()}`}`;
  const nodes = hops
    .split(",")
    .map((hop) => hop.trim())
    .map((hop) => `for=${parseAddress(hop) ? nodeOf(hop) : "unknown"}`);
  return nodes.map((element, index) => (index === 0 ? element + request : element)).join(", ");
}

/** Returns an IP address as `Forwarded` has it. */
function nodeOf(address: string): string {
  return address.includes(":") ? `"[${address}]"` : address;
}
