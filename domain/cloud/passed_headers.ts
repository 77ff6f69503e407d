import { ACTING_MEMBER, type ActingMember, writeActingMember } from "./acting_member.ts";
import type { Secret } from "../secret.ts";

/** Marks a request of one Slipway to another, which must not pass it on again. */
export const FORWARDED = "slipway-forwarded";

/** The headers that describe a request itself. All others are about one connection, or credentials of one side. */
const OF_REQUEST = [
  "accept",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "content-encoding",
  "content-type",
  "idempotency-key",
  "if-none-match",
  "last-event-id",
  "user-agent",
  "x-request-id",
];

/** The headers that describe a response itself. Others could change how a browser treats this installation. */
const OF_RESPONSE = [
  "allow",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-type",
  "etag",
  "idempotency-replayed",
  "last-modified",
  "retry-after",
  "vary",
  "x-accel-buffering",
];

/** Returns the headers of a request to the hosted cloud. */
export function cloudRequestHeaders(
  given: Headers | undefined,
  { token, actingMember }: { readonly token: Secret; readonly actingMember?: ActingMember | undefined },
): Headers {
  const headers = only(OF_REQUEST, given ?? new Headers());
  headers.set("authorization", `Bearer ${token.reveal()}`);
  headers.set(FORWARDED, "1");
  if (actingMember) headers.set(ACTING_MEMBER, writeActingMember(actingMember));
  return headers;
}

/** Returns the headers of the hosted cloud's response that are passed on. */
export function cloudResponseHeaders(given: Headers): Headers {
  return only(OF_RESPONSE, given);
}

function only(names: readonly string[], given: Headers): Headers {
  const headers = new Headers();
  for (const name of names) {
    const value = given.get(name);
    if (value !== null) headers.set(name, value);
  }
  return headers;
}
