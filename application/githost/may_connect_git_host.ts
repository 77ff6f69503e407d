import { allows } from "../../domain/identity/permission.ts";
import type { Members } from "../../ports/identity/members.ts";

export interface MayConnectPorts {
  readonly members: Members;
}

/** Returns whether a user who started to connect the git host may still do so. */
export async function mayConnectGitHost(
  { members }: MayConnectPorts,
  { organizationId, userId }: { readonly organizationId: string; readonly userId: string },
): Promise<boolean> {
  const member = await members.find(organizationId, userId);
  if (!member) return false;
  const credential = { kind: "session", id: "" } as const;
  const by = { ...member, credential, founder: false, narrowing: null, expiresAt: null };
  return allows(by, "githost:write");
}
