import type { Failure } from "../failure.ts";

/** The steps of a preflight, in order. */
export const PROBE_STEPS = ["write", "read", "delete"] as const;
/** The reasons why a preflight can fail. */
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

/** The result of a preflight. */
export type ProbeOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: ProbeCode; readonly reason: string };

/** The key prefix of all probe objects. */
export const PROBE_PREFIX = ".slipway-probe-";

/** Age from which a probe is abandoned: well over the maximum duration of a preflight. */
const ABANDONED_MS = 90_000;
const NAME = /^\.slipway-probe-([0-9a-z]{6,12})-[0-9a-f]{32}$/;

/** Failure codes of stores that are not preflight codes, and what they map to. */
const OTHER_CODES: Readonly<Record<string, ProbeCode>> = { storage_full: "misconfigured" };

/** Returns a unique key for a new probe. */
export function probeKey(at: Date): string {
  const random = crypto.getRandomValues(new Uint8Array(16)).toHex();
  return `${PROBE_PREFIX}${at.getTime().toString(36)}-${random}`;
}

/** Returns whether a key belongs to a probe that no preflight uses any more. */
export function isAbandonedProbe(key: string, now: Date): boolean {
  const began = NAME.exec(key)?.[1];
  return began !== undefined && now.getTime() - Number.parseInt(began, 36) > ABANDONED_MS;
}

/** Converts a failure at some step to the result of the preflight. */
export function failedProbe(step: ProbeStep, failure: Failure): ProbeOutcome & { readonly ok: false } {
  const code = PROBE_CODES.find((known) => known === failure.code) ?? OTHER_CODES[failure.code] ?? "unreachable";
  return { ok: false, code, reason: `${step}: ${failure.message}` };
}
