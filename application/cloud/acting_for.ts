import type { ActingMember } from "../../domain/cloud/acting_member.ts";
import type { Grant, Principal } from "../../domain/identity/permission.ts";
import type { Users } from "../../ports/identity/users.ts";

/** Returns who the cloud is told to act for, and the most that it may do for that member. */
export function actingFor({ users }: { readonly users: Users }) {
  return async function ({ userId }: Principal, grants: readonly Grant[]): Promise<ActingMember> {
    const user = await users.find(userId);
    return { id: userId, email: user?.email ?? userId, permissions: [], grants };
  };
}
