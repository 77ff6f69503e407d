import { Elysia, t } from "elysia";
import type { GitHostUseCases } from "../../application/githost/use_cases.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { Done, EmptyObject, listResponse, many, object, one, viewText } from "../schema.ts";
import { HookBody, HookView, hookView, NamePath, SearchQuery } from "./schemas.ts";

const FAILURES = [400, 502, 503];

const hookText = viewText(hookView);

/** Routes of the webhooks of repositories on the git host. */
export function hookRoutes(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ prefix: "/api/githost/repos/:owner/:repo/webhooks", tags: ["Git host"] })
    .use(access)
    .get(
      "",
      ({ principal, params, query, request: { signal } }) =>
        listResponse(
          query,
          (page) => useCases.listWebhooks(principal, params, { ...page, search: query.search }, signal),
          hookText,
        ),
      {
        permission: "githost:list",
        params: NamePath,
        query: SearchQuery,
        ...operation({
          name: "githost.list_webhooks",
          summary: "List the webhooks of a repository",
          answer: many(HookView),
          problems: FAILURES,
        }),
      },
    )
    .post(
      "",
      async ({ principal, params, request }) => {
        const hook = await useCases.registerWebhook(principal, params, request.signal);
        return { data: { ...hookView(hook), reused: hook.reused } };
      },
      {
        permission: "githost:write",
        params: NamePath,
        body: EmptyObject,
        ...operation({
          name: "githost.register_webhook",
          summary: "Register the webhook that reports pushes, or reuse the one that was registered before",
          answer: one(
            object({
              ...HookView.properties,
              reused: t.Boolean({ description: "Whether it was registered before" }),
            }),
          ),
          problems: FAILURES,
        }),
      },
    )
    .use(hookRemoval(access, useCases));
}

function hookRemoval(access: Access, useCases: GitHostUseCases) {
  return new Elysia({ name: "http/githost/hook_removal" }).use(access).delete(
    "",
    async ({ principal, params, body, request }) => {
      await useCases.removeWebhook(principal, params, body.hookId, request.signal);
      return { success: true };
    },
    {
      permission: "githost:admin",
      params: NamePath,
      body: HookBody,
      ...operation({
        name: "githost.remove_webhook",
        summary: "Remove a webhook of a repository",
        answer: Done,
        problems: FAILURES,
      }),
    },
  );
}
