import type { DetectedVariable } from "../../detection.ts";
import type { JsonObject } from "../../text/json_text.ts";
import { configCode } from "./framework.ts";
import { dependencyVersion, dependsOn } from "./package.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { codeOf } from "../../text/script_text.ts";

/** Environment variables that a library needs to start. */
const LIBRARIES: readonly (readonly [name: string, variables: readonly string[]])[] = [
  ["@adonisjs/core", ["APP_KEY"]],
  ["@auth/sveltekit", ["AUTH_SECRET"]],
  ["@clerk/nextjs", ["NEXT_PUBLIC_CLERK_PUBLISHABLE_KEY", "CLERK_SECRET_KEY"]],
  ["@strapi/strapi", ["APP_KEYS", "API_TOKEN_SALT", "ADMIN_JWT_SECRET", "TRANSFER_TOKEN_SALT"]],
  ["better-auth", ["BETTER_AUTH_SECRET"]],
  ["payload", ["PAYLOAD_SECRET"]],
];
const VARIABLE = "[A-Z][A-Z0-9_]{0,60}";
const MAX_VARIABLES = 50;

/** Default paths of the Prisma schema. */
export const PRISMA_SCHEMAS = ["prisma/schema.prisma", "schema.prisma", "prisma/schema/schema.prisma"] as const;

/** The environment variables that a package's libraries and their configuration require. */
export function nodeVariables(folder: ProjectFolder, manifest: JsonObject): DetectedVariable[] {
  const byLibrary = LIBRARIES.flatMap(([name, variables]) => (dependsOn(manifest, name) ? variables : []));
  const names = [...inSchema(folder), ...inConfig(folder), ...byLibrary, ...auth(manifest)];
  return [...new Set(names)].slice(0, MAX_VARIABLES).map((key) => ({ key, required: true }));
}

/** Reads variables as in `url = env("DATABASE_URL")`. */
function inSchema(folder: ProjectFolder): string[] {
  const path = folder.first(PRISMA_SCHEMAS);
  const text = path === undefined ? "" : codeOf(folder.text(path) ?? "");
  return [...text.matchAll(new RegExp(`\\benv\\(\\s*"(${VARIABLE})"`, "g"))].map(([, name]) => name!);
}

/** Reads the variables in the configuration of database tools, used directly or as in `env("DATABASE_URL")`. */
function inConfig(folder: ProjectFolder): string[] {
  const code = configCode(folder, "prisma") + configCode(folder, "drizzle");
  const read = new RegExp(
    `\\bprocess\\.env(?:\\.|\\[["'])(${VARIABLE})|\\benv(?:<[A-Za-z]{1,30}>)?\\(\\s*["'](${VARIABLE})`,
    "g",
  );
  return [...code.matchAll(read)].map(([, first, second]) => (first ?? second)!).filter((name) => name !== "NODE_ENV");
}

function auth(manifest: JsonObject): string[] {
  if (!dependsOn(manifest, "next-auth")) return [];
  return /^[\^~]?[1-4]\b/.test(dependencyVersion(manifest, "next-auth") ?? "")
    ? ["NEXTAUTH_SECRET", "NEXTAUTH_URL"]
    : ["AUTH_SECRET"];
}
