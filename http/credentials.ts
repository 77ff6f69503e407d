import type { Credential } from "../application/identity/identify_caller.ts";
import { ACTING_MEMBER } from "../domain/cloud/acting_member.ts";
import { Failure } from "../domain/failure.ts";

export const SESSION_COOKIE = "slipway_session";

/** Reads the credential of a request: a bearer token first, else the session cookie. */
export function readCredential(request: Request): Credential | undefined {
  const named = request.headers.get("x-organization-id");
  const authorization = request.headers.get("authorization");
  const cookie = authorization ? undefined : sessionCookie(request.headers.get("cookie"));
  const value = authorization ? /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization)?.[1] : cookie;
  if (!value) return undefined;
  const actingMember = request.headers.get(ACTING_MEMBER);
  return { kind: authorization ? "token" : "session", value, organizationId: named, actingMember };
}

function sessionCookie(header: string | null): string | undefined {
  if (!header) return undefined;
  for (const part of header.split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === SESSION_COOKIE && value && /^[\w-]{1,100}$/.test(value)) return value;
  }
  return undefined;
}

/** CSRF protection: refuses a change by cookie that a page of another site could have caused. */
export function checkOrigin(request: Request, publicOrigin: string): void {
  const origin = request.headers.get("origin");
  if (origin === publicOrigin) return;
  if (origin !== null && URL.canParse(origin)) {
    const { host, protocol } = new URL(origin);
    // Pages of the public host must use its own scheme: without TLS, anyone on the network path could have forged them.
    const disguised = host === new URL(publicOrigin).host && `${protocol}//${host}` !== publicOrigin;
    if (host === request.headers.get("host") && !disguised) return;
  }
  const refused =
    origin === null
      ? "Cannot change anything by cookie without an Origin header"
      : "Cannot accept this change from another origin";
  const next = `Send the header "Origin: ${publicOrigin}", or use an access token instead of the cookie`;
  throw new Failure("forbidden", "foreign_origin", `${refused}: a page of another site could have caused it. ${next}`);
}
