import { bareHost } from "../../domain/deployments/route_table.ts";
import { arrivedEncrypted, type Peer } from "./forwarded.ts";
import type { RequestHead } from "./request_head.ts";

/** What decides about redirects from plain HTTP to HTTPS. */
export interface RedirectRules {
  /** The port that is served over TLS; 0 for none. */
  readonly tlsPort: number;
  /** Returns whether a host, with or without a port, has a certificate. */
  hasCertificate(host: string): boolean;
}

const DEFAULT_PORT = 443;

/** Returns the HTTPS address that a plain request is redirected to; `undefined` if it is served as it is. */
export function httpsAddress(
  { host, target, fields }: RequestHead,
  peer: Peer,
  rules: RedirectRules,
): string | undefined {
  const { tlsPort } = rules;
  if (tlsPort === 0 || peer.protocol === "https" || !rules.hasCertificate(host)) return undefined;
  if (!target.startsWith("/") || arrivedEncrypted(peer, fields)) return undefined;
  const port = tlsPort === DEFAULT_PORT ? "" : `:${tlsPort}`;
  const ascii = target.replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
  return `https://${bareHost(host)}${port}${ascii}`;
}
