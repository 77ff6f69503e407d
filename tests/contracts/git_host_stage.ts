import { expect } from "bun:test";
import { inspect } from "node:util";
import { Failure } from "../../domain/failure.ts";
import type { Secret } from "../../domain/secret.ts";
import type { GitHostSetup } from "./git_host_setup.ts";

/** A git host with adapters to test on it. */
export interface GitHostStage<Adapters> extends AsyncDisposable {
  readonly host: GitHostSetup;
  readonly adapters: Adapters;
  /** The address of the callback that the app is registered with. */
  readonly redirectUrl: string;
}

/** A signal that never aborts. */
export const NEVER = new AbortController().signal;

/** Awaits the failure of a call, whose sentence and causes contain none of the secrets. */
export async function failureOf(call: Promise<unknown>, ...secrets: readonly Secret[]): Promise<Failure> {
  const error = await call.then(
    () => new Error("The call succeeded"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Failure)) throw error;
  expect(error.message).toStartWith("Cannot ");
  const shown = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error);
  for (const secret of secrets) expect(shown).not.toContain(secret.reveal());
  return error;
}

/** Matches the failure of a login that the git host does not accept. */
export const LOGIN_EXPIRED = { kind: "invalid", code: "githost_login_expired" };

/** Matches the failure of a request that the git host refuses. */
export const REFUSED = { kind: "invalid", code: "githost_refused" };

/** Checks that a call rejects as promised when the host is down or rate limited, and when its signal aborts. */
export async function expectFaults(
  host: GitHostSetup,
  call: (signal: AbortSignal) => Promise<unknown>,
  ...secrets: readonly Secret[]
): Promise<void> {
  try {
    await host.fail("down");
    expect(await failureOf(call(NEVER), ...secrets)).toMatchObject({ kind: "remote_failed", code: "githost_failed" });
    await host.fail({ rateLimitedForSeconds: 300 });
    const limited = await failureOf(call(NEVER), ...secrets);
    expect(limited).toMatchObject({ kind: "unavailable", code: "githost_rate_limited" });
    expect(limited.retryAfter).toBeWithin(200, 310);
  } finally {
    await host.fail(null);
  }
  const reason = new Error("No longer wanted");
  await expect(call(AbortSignal.abort(reason))).rejects.toBe(reason);
}
