import { inNetwork } from "../domain/network_address.ts";

/** Where a request came from and how, as far as it can be believed. */
export interface Travelled {
  readonly address: string;
  readonly secure: boolean;
}

/** Sees through configured proxies only: `X-Forwarded-*` of anybody else counts for nothing. */
export function travelled(request: Request, peer: string, trustedProxies: readonly string[]): Travelled {
  const direct = { address: plain(peer), secure: request.url.startsWith("https:") };
  const trusted = (address: string) => trustedProxies.some((network) => inNetwork(address, network));
  if (trustedProxies.length === 0 || !trusted(direct.address)) return direct;
  const hops = (request.headers.get("x-forwarded-for") ?? "").split(",").map((hop) => plain(hop.trim()));
  const client = hops.findLast((hop) => hop !== "" && !trusted(hop)) ?? direct.address;
  const proto = request.headers.get("x-forwarded-proto")?.split(",").at(-1)?.trim();
  return { address: client.slice(0, 64), secure: proto ? proto === "https" : direct.secure };
}

function plain(address: string): string {
  return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}
