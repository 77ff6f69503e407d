/** A host name that routes, or will route, to a project. */
export interface DomainName {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly hostname: string;
  /** `free` names are under the base domain and need no proof. */
  readonly type: "free" | "custom";
  /** The value that the owner publishes as a TXT record to prove control. */
  readonly proof: string;
  readonly verifiedAt: Date | null;
  readonly createdAt: Date;
}

/** After this time another organization may displace an unverified claim. */
export const CLAIM_MS = 72 * 3_600_000;

const LABEL = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/;

/** Normalizes a host name; `undefined` if it is not one that a certificate could name. */
export function normalHostname(text: string): string | undefined {
  const candidate = text.trim().replace(/\.$/, "").toLowerCase();
  if (!/^[\p{L}\p{M}\p{N}.-]+$/u.test(candidate) || !URL.canParse(`http://${candidate}/`)) return undefined;
  const hostname = new URL(`http://${candidate}/`).hostname;
  const labels = hostname.split(".");
  if (hostname.length > 253 || labels.length < 2 || /^\d+$/.test(labels.at(-1) ?? "")) return undefined;
  return labels.every((label) => LABEL.test(label)) ? hostname : undefined;
}

/** Returns the TXT record that proves control of a host name. */
export function proofRecord(domain: DomainName): { readonly name: string; readonly value: string } {
  return { name: `_slipway.${domain.hostname}`, value: `slipway-verification=${domain.proof}` };
}
