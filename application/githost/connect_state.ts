import { type Failure, invalid } from "../../domain/failure.ts";
import { fingerprint, randomText } from "../../domain/identity/token.ts";
import type { ConnectAttempt, ConnectAttempts } from "../../ports/githost/connect_attempts.ts";
import type { Clock } from "../../ports/system/clock.ts";

export interface ConnectStatePorts {
  readonly clock: Clock;
  readonly connectAttempts: ConnectAttempts;
}

/** Who connects the git host, for which organization, and the installation to verify once they have authorized. */
export type ConnectClaim = Pick<ConnectAttempt, "organizationId" | "userId"> &
  Partial<Pick<ConnectAttempt, "installationId">>;

const LIFETIME_MS = 600_000;

/** Returns the `state` that the git host hands back: it can be used once within ten minutes, and only for this claim. */
export async function connectState(
  { clock, connectAttempts }: ConnectStatePorts,
  { organizationId, userId, installationId = null }: ConnectClaim,
): Promise<string> {
  const state = randomText();
  const startedAt = clock.now();
  const expiresAt = new Date(startedAt.getTime() + LIFETIME_MS);
  const stateHash = fingerprint(state);
  await connectAttempts.put({ stateHash, organizationId, userId, installationId, startedAt, expiresAt });
  return state;
}

/** Returns the attempt behind a `state`, without using it up. Throws `connect_state_invalid` for any other text. */
export async function findConnectAttempt(
  { clock, connectAttempts }: ConnectStatePorts,
  state: string,
): Promise<ConnectAttempt> {
  return (await connectAttempts.find(fingerprint(state), clock.now())) ?? refuse();
}

/** Uses a `state` up and returns the attempt behind it. Throws `connect_state_invalid` for any other text. */
export async function takeConnectAttempt(
  { clock, connectAttempts }: ConnectStatePorts,
  state: string,
): Promise<ConnectAttempt> {
  return (await connectAttempts.take(fingerprint(state), clock.now())) ?? refuse();
}

function refuse(): never {
  throw badState("this link was not made here, was used already, or is older than ten minutes");
}

/** The failure of a callback that cannot be completed. */
export function badState(why: string): Failure {
  const sentence = `Cannot connect the git host: ${why}. Start again in Slipway (POST /api/githost/connect)`;
  return invalid("connect_state_invalid", sentence);
}
