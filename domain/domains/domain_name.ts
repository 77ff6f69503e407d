import { parseAddress } from "../network_address.ts";

/** A host name that routes, or will route, to a project. */
export interface DomainName {
  readonly id: string;
  readonly organizationId: string;
  readonly projectId: string;
  readonly hostname: string;
  /** `free` names are under the base domain and need no proof. */
  readonly type: "free" | "custom";
  /** The secret of the claim, in the TXT record and the page that prove control. */
  readonly proof: string;
  readonly verifiedAt: Date | null;
  readonly createdAt: Date;
}

/** Why a claim cannot be verified any more. */
export const HOSTNAME_TAKEN = "Cannot verify this name: another organization has verified it before";

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

/** Returns what is wrong with a text that is no host name, for people. */
export function hostnameFault(text: string): string {
  const name = text.trim();
  const example = "give a full host name such as www.example.com";
  if (name.startsWith("*")) return `wildcards are not supported. Claim each name by itself: ${example}`;
  if (/[/:@?#]/.test(name) && !parseAddress(name)) return `${example}, without a scheme, port or path`;
  if (parseAddress(name) || /^[\da-fx.]*\.\d+$/i.test(name)) return `${example}; an IP address cannot be claimed`;
  if (!name.replace(/\.$/, "").includes(".")) return `${example}, with at least one dot`;
  return `${example}: at most 253 characters, with labels of letters, digits and inner hyphens, at most 63 each`;
}

/** Returns the TXT record that proves control of a host name. */
export function proofRecord(domain: DomainName): { readonly name: string; readonly value: string } {
  return { name: `_slipway.${domain.hostname}`, value: `slipway-verification=${domain.proof}` };
}

/** Returns the page that proves that a host name leads to this installation: its edges answer for it with the text. */
export function proofPage(domain: DomainName): { readonly path: string; readonly url: string; readonly text: string } {
  const path = `/.well-known/slipway-challenge/${domain.proof}`;
  return { path, url: `http://${domain.hostname}${path}`, text: proofRecord(domain).value };
}
