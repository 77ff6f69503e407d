import { inNetwork, parseAddress } from "../domain/network_address.ts";

/** Where a request came from and how, as far as it can be believed. */
export interface ClientAddress {
  readonly address: string;
  readonly secure: boolean;
}

/** Sees through configured proxies only: `X-Forwarded-*` of anybody else counts for nothing. */
export function clientAddress(request: Request, peer: string, trustedProxies: readonly string[]): ClientAddress {
  const direct = { address: plain(peer), secure: request.url.startsWith("https:") };
  const trusted = (address: string) => trustedProxies.some((network) => inNetwork(address, plain(network)));
  if (trustedProxies.length === 0 || !trusted(direct.address)) return direct;
  const hops = (request.headers.get("x-forwarded-for") ?? "").split(",").map((hop) => plain(hop.trim()));
  const proto = request.headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim().toLowerCase();
  return { address: clientOf(hops, trusted) ?? direct.address, secure: proto ? proto === "https" : direct.secure };
}

/** The nearest hop that is no proxy of ours, else the farthest that we can still believe. */
function clientOf(hops: readonly string[], trusted: (address: string) => boolean): string | undefined {
  let client: string | undefined;
  for (const hop of hops.toReversed()) {
    // What is no address was made up by somebody; the proxy that passed it on is as far as we can see.
    if (!parseAddress(hop)) return client;
    client = hop;
    if (!trusted(hop)) return client;
  }
  return client;
}

/** An address without a port, and an IPv4 one out of its IPv6 dress. */
function plain(text: string): string {
  const address = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  return /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
}
