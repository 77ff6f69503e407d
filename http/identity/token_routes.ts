import { Elysia } from "elysia";
import type { IdentityUseCases } from "../../application/identity/use_cases.ts";
import { invalidField } from "../../domain/failure.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { Done, IdPath, listResponse, many, EmptyObject, one, PageQuery, viewText } from "../schema.ts";
import { NewTokenView, TokenBody, TokenView, tokenView } from "./token_schemas.ts";

const tokenText = viewText(tokenView);

/** Routes of the caller's own access tokens. */
export function tokenRoutes(access: Access, useCases: IdentityUseCases) {
  return new Elysia({ prefix: "/api/tokens", tags: ["Identity"] })
    .use(access)
    .get("", ({ principal, query }) => listResponse(query, (page) => useCases.listTokens(principal, page), tokenText), {
      permission: "self",
      query: PageQuery,
      ...operation({ name: "token.list", summary: "List the caller's own access tokens", answer: many(TokenView) }),
    })
    .post(
      "",
      async ({ principal, body, set }) => {
        const { token, text } = await useCases.createToken(principal, { ...body, expiresAt: timeOf(body.expiresAt) });
        set.status = 201;
        return { data: { ...tokenView(token), token: text } };
      },
      {
        permission: "self",
        body: TokenBody,
        ...operation({
          name: "token.create",
          summary: "Create an access token with at most the caller's permissions; its value is shown once",
          status: 201,
          answer: one(NewTokenView),
          problems: [403],
          shownOnce: ["data.token"],
        }),
      },
    )
    .delete(
      "/:id",
      async ({ principal, params }) => {
        await useCases.revokeToken(principal, params.id);
        return { success: true };
      },
      {
        permission: "self",
        params: IdPath,
        body: EmptyObject,
        ...operation({ name: "token.revoke", summary: "Revoke a token at once", answer: Done, problems: [403, 404] }),
      },
    );
}

function timeOf(text: string | null | undefined): Date | undefined {
  if (text === null || text === undefined) return undefined;
  const time = new Date(text);
  if (Number.isNaN(time.getTime())) throw invalidField("expiresAt", "give a time such as 2026-01-31T12:00:00Z");
  return time;
}
