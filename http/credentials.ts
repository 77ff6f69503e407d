import type { Presented } from "../application/identity/identify_caller.ts";
import { Failure } from "../domain/failure.ts";

export const SESSION_COOKIE = "slipway_session";

/** Reads the credential a request presents: a bearer token first, else the session cookie. */
export function presented(request: Request): Presented | undefined {
  const named = request.headers.get("x-organization-id");
  const authorization = request.headers.get("authorization");
  const cookie = authorization ? undefined : sessionCookie(request.headers.get("cookie"));
  const value = authorization ? /^Bearer ([\x21-\x7e]{1,500})$/i.exec(authorization)?.[1] : cookie;
  if (!value) return undefined;
  return { kind: authorization ? "token" : "session", value, organizationId: named };
}

function sessionCookie(header: string | null): string | undefined {
  if (!header) return undefined;
  for (const part of header.split(";")) {
    const [name, value] = part.trim().split("=", 2);
    if (name === SESSION_COOKIE && value && /^[\w-]{1,100}$/.test(value)) return value;
  }
  return undefined;
}

/** Refuses a change by cookie that another site's page could have caused. */
export function checkOrigin(request: Request, publicOrigin: string): void {
  const origin = request.headers.get("origin");
  if (
    origin !== null &&
    (origin === publicOrigin || (URL.canParse(origin) && new URL(origin).host === request.headers.get("host")))
  )
    return;
  throw new Failure(
    "forbidden",
    "foreign_origin",
    "Cannot change anything by cookie from this origin: call from the dashboard's own address",
  );
}
