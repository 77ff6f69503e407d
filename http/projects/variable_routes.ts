import { Elysia, t } from "elysia";
import type { ProjectUseCases } from "../../application/projects/use_cases.ts";
import { Secret } from "../../domain/secret.ts";
import { type Variable, variableKeyProblem } from "../../domain/projects/variable.ts";
import type { Access } from "../access.ts";
import { operation } from "../operation.ts";
import { IdPath, object } from "../schema.ts";
import { VariablesBody, VariablesQuery, VariableView } from "./schemas.ts";

/** The most keys that an accepted body can contain. */
const MAX_KEYS = 1_000;

const Variables = object({ data: t.Array(VariableView, { description: "All variables, sorted by name" }) });

/** Routes of a project's environment variables. */
export function variableRoutes(access: Access, useCases: ProjectUseCases) {
  return new Elysia({ prefix: "/api/projects", tags: ["Projects"] })
    .use(access)
    .get(
      "/:id/env",
      async ({ principal, params, query }) => ({
        data: (await useCases.listVariables(principal, params.id, query.environment)).map(view),
      }),
      {
        permission: "project:read",
        params: IdPath,
        query: VariablesQuery,
        ...operation({
          name: "variable.list",
          summary:
            "List a project's variables for an environment, including those of single services; secret values are null",
          answer: Variables,
          problems: [404],
        }),
      },
    )
    .patch(
      "/:id/env",
      async ({ principal, params, query: { environment = "production" }, body: { upserts = [], deletes = [] } }) => {
        const guarded = upserts.map(({ key, value, secret }) => ({ key, value: new Secret(value), secret }));
        const request = { upserts: guarded, deletes, environment };
        return { data: (await useCases.changeVariables(principal, params.id, request)).map(view) };
      },
      {
        permission: "project:write",
        params: IdPath,
        query: VariablesQuery,
        body: VariablesBody,
        ...operation({
          name: "variable.change",
          changes: variableKeys,
          summary: "Write and delete a project's variables, for every service or for one, atomically in an environment",
          answer: Variables,
          problems: [404],
        }),
      },
    );
}

/** Returns the valid keys that a body writes and deletes; those of previews begin with `preview.`. */
function variableKeys(
  { upserts, deletes }: Readonly<Record<string, unknown>>,
  query: URLSearchParams,
): readonly string[] {
  const written = Array.isArray(upserts) ? upserts.map((upsert: { key?: unknown } | null) => upsert?.key) : [];
  const keys = [...written, ...(Array.isArray(deletes) ? deletes : [])];
  const valid = keys.filter((key) => typeof key === "string" && variableKeyProblem(key) === undefined);
  // Of a parameter that is given twice, the last value counts.
  const set = query.getAll("environment").at(-1) === "preview" ? "preview." : "";
  return [...new Set(valid.map((key) => `${set}${key}`))].slice(0, MAX_KEYS);
}

function view({ key, value, secret, updatedAt }: Variable) {
  return { key, value, secret, updatedAt: updatedAt.toISOString() };
}
