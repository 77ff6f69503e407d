import { ACTING_MEMBER, writeActingMember } from "../../../domain/cloud/acting_member.ts";
import type { Grant, Permission } from "../../../domain/identity/permission.ts";
import { memoryApp } from "./app.ts";

/** The hosted cloud in memory, with a link token of its owner. */
export async function linkedCloud() {
  const app = await memoryApp({ mode: "cloud" });
  const minted = await app.call("POST", "/api/tokens", { token: app.owner, body: { name: "link", link: true } });
  if (minted.status !== 201) throw new Error(minted.text);
  const { id: tokenId, token } = minted.body.data as { id: string; token: string };
  return { ...app, app, tokenId, token };
}

/** The header of a member of a linked installation. Without rights, it may do nothing. */
export function actingAs(
  id: string,
  rights: { readonly permissions?: readonly Permission[]; readonly grants?: readonly Grant[] } = {},
): Record<string, string> {
  const { permissions = [], grants = [] } = rights;
  return { [ACTING_MEMBER]: writeActingMember({ id, email: `${id}@example.com`, permissions, grants }) };
}

/** A grant on one project, for `actingAs()`. */
export function onProject(id: string, action: Grant["action"]): readonly Grant[] {
  return [{ resource: "project", id, action }];
}
