import { fieldRow, fieldTable, typeAnchor, valueTable } from "./docs_fields.ts";
import { escapeHtml, page } from "./page.ts";

type Json = Record<string, unknown>;

const STYLE = `:root{color-scheme:light dark;--line:#d4dbe6;--soft:#f3f6fb;--ink:#17202e;--mark:#0b5fff}
@media(prefers-color-scheme:dark){:root{--line:#33404f;--soft:#1b2430;--ink:#e6ebf2;--mark:#7aa7ff}body{background:#12181f}}
body{font:16px/1.55 system-ui,sans-serif;color:var(--ink);max-width:62rem;margin:0 auto;padding:2rem 1rem}
nav a{margin-right:1rem}a{color:var(--mark)}h2{margin-top:3rem;border-bottom:1px solid var(--line)}
details{border:1px solid var(--line);border-radius:.4rem;margin:.5rem 0;padding:.5rem .8rem}
summary{cursor:pointer}code,pre{font:13px/1.5 ui-monospace,monospace}pre{background:var(--soft);padding:.8rem;overflow:auto;border-radius:.3rem}
.method{display:inline-block;min-width:4rem;font-weight:700}.who{float:right;opacity:.75}table{border-collapse:collapse}td,th{text-align:left;padding:.2rem 1rem .2rem 0;vertical-align:top}`;

/**
 * Renders the API documentation from the OpenAPI document as a self-contained HTML page, which loads nothing external.
 */
export function docsPage(document: Json): Response {
  const groups = new Map<string, string[]>();
  for (const [path, methods] of Object.entries(document.paths as Record<string, Record<string, Json>>)) {
    for (const [method, operation] of Object.entries(methods)) {
      const tag = String((operation.tags as string[])[0]);
      groups.set(tag, [...(groups.get(tag) ?? []), entry(method.toUpperCase(), path, operation)]);
    }
  }
  const { title, version, description } = document.info as Record<string, string>;
  const { schemas } = document.components as { readonly schemas: Record<string, Json> };
  groups.set(TYPES, Object.entries(schemas).map(typeEntry));
  const names = [...groups.keys()];
  return page(
    `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title} API</title>
<style>${STYLE}</style><h1>${title} API <small>${escapeHtml(version ?? "")}</small></h1><p>${code(description ?? "")}</p>
<p>Send <code>Authorization: Bearer slp_…</code> with every request. The same as an OpenAPI document: <a href="/api/openapi.json">/api/openapi.json</a>.</p>
<nav>${names.map((name) => `<a href="#${anchor(name)}">${escapeHtml(name)}</a>`).join("")}</nav>
${names.map((name) => `<h2 id="${anchor(name)}">${escapeHtml(name)}</h2>${groups.get(name)!.join("")}`).join("\n")}</html>`,
    { style: STYLE },
  );
}

/** The heading of the named types. */
const TYPES = "Types";

function typeEntry([name, schema]: readonly [string, Json]): string {
  return `<details id="${typeAnchor(name)}"><summary><code>${escapeHtml(name)}</code></summary>
${valueTable(schema)}${fieldTable(schema)}</details>`;
}

function entry(method: string, path: string, operation: Json): string {
  const permission = operation["x-permission"] as string | undefined;
  const needed = [permission, operation["x-handler-permission"]].filter((each) => each !== undefined).join(" + ");
  const who = permission === undefined ? "open" : permission === "self" ? "any caller" : needed;
  return `<details id="${operation.operationId}"><summary><span class="method">${method}</span><code>${escapeHtml(path)}</code>
<span class="who">${escapeHtml(who)}</span><br>${escapeHtml(String(operation.summary))}</summary>${operation.description === undefined ? "" : `<p>${code(String(operation.description))}</p>`}
${parameters((operation.parameters ?? []) as Json[])}${sample("Body", operation.requestBody as Json | undefined)}${answers(operation.responses as Record<string, Json>)}</details>`;
}

function parameters(list: Json[]): string {
  if (list.length === 0) return "";
  const groups = Map.groupBy(list, ({ in: where }) => String(where));
  const tables = [...groups].map(([where, own]) => {
    const rows = own.map((parameter) => fieldRow(String(parameter.name), parameter.schema as Json, parameter));
    return `<table><tr><th>In the ${where}<th>Type<th><th>Meaning${rows.join("")}</table>`;
  });
  return tables.join("");
}

function answers(responses: Record<string, Json>): string {
  const [good, ...problems] = Object.entries(responses).sort(([a], [b]) => Number(a) - Number(b));
  const rows = problems.map(([status, { description }]) => `<tr><td>${status}<td>${escapeHtml(String(description))}`);
  return `${good ? sample(`Answer ${good[0]}`, good[1]) : ""}<table>${rows.join("")}</table>`;
}

function sample(title: string, holder: Json | undefined): string {
  const [media, { example, schema } = {}] = Object.entries((holder?.content ?? {}) as Record<string, Json>)[0] ?? [];
  if (media === undefined) return "";
  const shown = example === undefined ? escapeHtml(media) : escapeHtml(JSON.stringify(example, null, 2));
  return `<h4>${title}</h4><pre>${shown}</pre>${fieldTable(schema as Json | undefined)}`;
}

function code(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(/\W+/g, "-");
}
