import type { Page } from "../../domain/page.ts";
import type { Principal } from "../../domain/identity/permission.ts";
import type { Tokens } from "../../ports/identity/tokens.ts";

/** Lists the caller's own tokens in its organization. */
export function listTokens({ tokens }: { readonly tokens: Tokens }) {
  return ({ organizationId, userId }: Principal, page: Page) => tokens.list({ organizationId, userId }, page);
}
