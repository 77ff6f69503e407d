import { expect, test } from "bun:test";
import { rateLimitSeconds } from "../../../adapters/githost/rate_limit.ts";

const NOW = new Date("2026-01-01T00:00:00.000Z");
const reset = (seconds: number) => `${NOW.getTime() / 1_000 + seconds}`;

const SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.";

test.each([
  [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset(10) }, "", 11],
  [429, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset(10) }, "", 11],
  [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset(-10) }, "", 1],
  [403, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "soon" }, "", 60],
  [403, { "retry-after": "7", "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset(900) }, "", 7],
  [429, { "retry-after": "0" }, "", 1],
  [429, {}, "", 60],
  [403, {}, SECONDARY, 60],
  [403, {}, "Must have admin rights to Repository.", undefined],
  [403, { "x-ratelimit-remaining": "12", "x-ratelimit-reset": reset(10) }, "", undefined],
  [200, { "x-ratelimit-remaining": "0", "x-ratelimit-reset": reset(10) }, SECONDARY, undefined],
] as const)("rateLimitSeconds() of a %d with %j and %j is %p", (status, headers, words, expected) => {
  const header = (name: string) => (headers as Readonly<Record<string, string>>)[name];
  expect(rateLimitSeconds({ status, header, words }, NOW)).toBe(expected);
});
