import { expect, test } from "bun:test";
import { MemoryAttempts } from "../../adapters/memory/attempts.ts";
import { MemoryTables } from "../../adapters/memory/memory_tables.ts";
import { throttle } from "../../application/identity/throttle.ts";
import { Failure } from "../../domain/failure.ts";
import type { AttemptLimit, Attempts } from "../../ports/identity/attempts.ts";

const WHO = { address: "192.0.2.1", account: "someone" };
const WRONG = new Failure(
  "unauthenticated",
  "wrong_login",
  "Cannot log in: the e-mail address or the password is wrong",
);
const AWAY = new Failure("unavailable", "database_away", "Cannot reach the database: the connection broke");

function times(count: number, failure: Failure): readonly Failure[] {
  return Array.from({ length: count }, () => failure);
}

async function codesOf(attempts: Attempts, failures: readonly Failure[]): Promise<readonly string[]> {
  const throttled = throttle({ attempts });
  const codes: string[] = [];
  for (const failure of failures) {
    const error = await throttled(WHO, () => Promise.reject(failure)).catch((reason: Failure) => reason);
    codes.push(error.code);
  }
  return codes;
}

test("only failed guesses are counted, not outages", async () => {
  const attempts = new MemoryAttempts(new MemoryTables());
  expect(new Set(await codesOf(attempts, times(200, AWAY)))).toEqual(new Set(["database_away"]));
  const guesses = await codesOf(attempts, times(11, WRONG));
  expect(guesses).toEqual([...Array<string>(10).fill("wrong_login"), "too_many_attempts"]);
});

test("an attempt that could not be counted everywhere is counted nowhere", async () => {
  const attempts = new MemoryAttempts(new MemoryTables());
  const broken: Attempts = {
    take: (key: string, limit: AttemptLimit) =>
      key.startsWith("pair:") ? Promise.reject(AWAY) : attempts.take(key, limit),
    giveBack: (key) => attempts.giveBack(key),
    sweep: (endedMs) => attempts.sweep(endedMs),
  };
  expect(new Set(await codesOf(broken, times(120, WRONG)))).toEqual(new Set(["database_away"]));
  expect(await codesOf(attempts, [WRONG])).toEqual(["wrong_login"]);
});
