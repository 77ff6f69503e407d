import { Failure, notFound } from "../../domain/failure.ts";
import { isId } from "../../domain/id.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Tokens } from "../../ports/identity/tokens.ts";

/** Revokes one of the caller's own tokens at once; a narrowed token may revoke only itself. */
export function revokeToken({ tokens }: { readonly tokens: Tokens }) {
  return async function (by: Principal, id: string): Promise<void> {
    if (by.narrowing && by.credential.id !== id) {
      throw new Failure(
        "forbidden",
        "narrowed_token",
        "Cannot revoke another token with a limited token: use a session or a token without limits",
      );
    }
    const { organizationId, userId } = by;
    if (!isId("tok", id) || !(await tokens.revoke({ organizationId, userId }, id))) throw notFound("token");
  };
}
