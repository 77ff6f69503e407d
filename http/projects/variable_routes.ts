import { Elysia, t } from "elysia";
import type { ProjectUseCases } from "../../application/projects/use_cases.ts";
import { Secret } from "../../domain/secret.ts";
import { isVariableKey, type Variable } from "../../domain/projects/variable.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { IdPath, object } from "../schema.ts";
import { VariablesBody, VariableView } from "./schemas.ts";

/** The most keys that an accepted body can contain. */
const MAX_KEYS = 1_000;

const Variables = object({ data: t.Array(VariableView, { description: "All variables, sorted by name" }) });

/** Routes of a project's environment variables. */
export function variableRoutes(access: Access, useCases: ProjectUseCases) {
  return new Elysia({ prefix: "/api/projects", tags: ["Projects"] })
    .use(access)
    .get(
      "/:id/env",
      async ({ principal, params }) => ({ data: (await useCases.listVariables(principal, params.id)).map(view) }),
      {
        permission: "project:read",
        params: IdPath,
        ...operation({
          name: "variable.list",
          summary: "List a project's variables; secret values are null",
          answer: Variables,
          problems: [404],
        }),
      },
    )
    .patch(
      "/:id/env",
      async ({ principal, params, body: { upserts = [], deletes = [] } }) => {
        const guarded = upserts.map(({ key, value, secret }) => ({ key, value: new Secret(value), secret }));
        return {
          data: (await useCases.changeVariables(principal, params.id, { upserts: guarded, deletes })).map(view),
        };
      },
      {
        permission: "project:write",
        params: IdPath,
        body: VariablesBody,
        ...operation({
          name: "variable.change",
          changes: variableKeys,
          summary: "Write and delete variables atomically",
          answer: Variables,
          problems: [404],
        }),
      },
    );
}

/** Returns the valid keys that a body writes and deletes. */
function variableKeys({ upserts, deletes }: Readonly<Record<string, unknown>>): readonly string[] {
  const written = Array.isArray(upserts) ? upserts.map((upsert: { key?: unknown } | null) => upsert?.key) : [];
  const keys = [...written, ...(Array.isArray(deletes) ? deletes : [])];
  return [...new Set(keys.filter((key) => typeof key === "string" && isVariableKey(key)))].slice(0, MAX_KEYS);
}

function view({ key, value, secret, updatedAt }: Variable) {
  return { key, value, secret, updatedAt: updatedAt.toISOString() };
}
