import type { Failure } from "../failure.ts";

/** The steps of a preflight, in their order. */
export const PROBE_STEPS = ["write", "read", "delete"] as const;
/** Why a preflight can fail. */
export const PROBE_CODES = [
  "unreachable",
  "auth_failed",
  "not_found",
  "permission_denied",
  "timeout",
  "corrupt",
  "host_key_changed",
  "misconfigured",
] as const;

export type ProbeStep = (typeof PROBE_STEPS)[number];
export type ProbeCode = (typeof PROBE_CODES)[number];

/** What a preflight found. */
export type ProbeOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: ProbeCode; readonly reason: string };

/** What the keys of all probes begin with. */
export const PROBE_PREFIX = ".slipway-probe-";

/** How long after its beginning a probe belongs to nobody any more: well over the longest that a preflight takes. */
const ABANDONED_MS = 90_000;
const NAME = /^\.slipway-probe-([0-9a-z]{6,12})-[0-9a-f]{32}$/;

/** Failures of stores that are none of the codes of a preflight, and what they come to there. */
const OTHER_CODES: Readonly<Record<string, ProbeCode>> = { storage_full: "misconfigured" };

/** A key for a new probe, unlike any other. */
export function probeKey(at: Date): string {
  const random = crypto.getRandomValues(new Uint8Array(16)).toHex();
  return `${PROBE_PREFIX}${at.getTime().toString(36)}-${random}`;
}

/** Whether a key is that of a probe which no preflight uses any more. */
export function isAbandonedProbe(key: string, now: Date): boolean {
  const began = NAME.exec(key)?.[1];
  return began !== undefined && now.getTime() - Number.parseInt(began, 36) > ABANDONED_MS;
}

/** What a failure at some step means to whoever asked for the preflight. */
export function failedProbe(step: ProbeStep, failure: Failure): ProbeOutcome & { readonly ok: false } {
  const code = PROBE_CODES.find((known) => known === failure.code) ?? OTHER_CODES[failure.code] ?? "unreachable";
  return { ok: false, code, reason: `${step}: ${failure.message}` };
}
