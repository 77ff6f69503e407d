import { inNetwork, parseAddress } from "../domain/network_address.ts";

/** The client address of a request and whether it used TLS, as far as both can be trusted. */
export interface ClientAddress {
  readonly address: string;
  readonly secure: boolean;
}

/** Resolves the client address through trusted proxies only. Ignores the `X-Forwarded-*` headers of anyone else. */
export function clientAddress(request: Request, peer: string, trustedProxies: readonly string[]): ClientAddress {
  const direct = { address: plain(peer), secure: request.url.startsWith("https:") };
  const trusted = (address: string) => trustedProxies.some((network) => inNetwork(address, plain(network)));
  if (trustedProxies.length === 0 || !trusted(direct.address)) return direct;
  const hops = (request.headers.get("x-forwarded-for") ?? "").split(",").map((hop) => plain(hop.trim()));
  const proto = request.headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim().toLowerCase();
  return { address: clientOf(hops, trusted) ?? direct.address, secure: proto ? proto === "https" : direct.secure };
}

/** Returns the nearest hop that is not a trusted proxy, else the farthest one that can still be trusted. */
function clientOf(hops: readonly string[], trusted: (address: string) => boolean): string | undefined {
  let client: string | undefined;
  for (const hop of hops.toReversed()) {
    // A hop that is no address is forged; the proxy that passed it on is the last one to trust.
    if (!parseAddress(hop)) return client;
    client = hop;
    if (!trusted(hop)) return client;
  }
  return client;
}

/** Strips the port, and unwraps an IPv4-mapped IPv6 address. */
function plain(text: string): string {
  const address = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
}
