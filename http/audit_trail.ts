import type { AuditTrail } from "../application/system/audit_trail.ts";
import type { Caller } from "./access.ts";

/** Runs a change and records it in the audit log. */
export async function audited(
  trail: AuditTrail,
  caller: Caller,
  change: { readonly action: string; readonly target: string | null; readonly changed: readonly string[] },
  run: () => Promise<Response>,
): Promise<Response> {
  const { principal, address, requestId } = caller;
  if (!principal) return run();
  const { kind, id: credentialId } = principal.credential;
  const credential = { kind, id: credentialId };
  const id = await trail.begin({ by: principal, credential, ...change, from: address, requestId });
  const response = await run();
  const outcome = response.status < 300 ? "succeeded" : response.status === 403 ? "refused" : "failed";
  await trail.end(id, outcome, change.target ?? (await madeId(response)));
  return response;
}

/** Extracts the id of the created object from a response. */
async function madeId(response: Response): Promise<string | null> {
  if (response.status >= 300 || !response.headers.get("content-type")?.startsWith("application/json")) return null;
  const body = (await response.clone().json()) as {
    data?: { id?: unknown; deployment_id?: unknown };
    deployment_id?: unknown;
    project_id?: unknown;
    sessionId?: unknown;
  };
  const id = body.data?.id ?? body.data?.deployment_id ?? body.deployment_id ?? body.project_id ?? body.sessionId;
  return typeof id === "string" ? id : null;
}
