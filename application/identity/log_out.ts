import { invalid } from "../../domain/failure.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Sessions } from "../../ports/identity/sessions.ts";

/** Ends the caller's current session. */
export function logOut({ sessions }: { readonly sessions: Sessions }) {
  return async function (by: Principal): Promise<void> {
    if (by.credential.kind !== "session") {
      throw invalid(
        "not_a_session",
        "Cannot log out: the request came with a token. Revoke it with DELETE /api/tokens/:id",
      );
    }
    await sessions.end(by.credential.id);
  };
}
