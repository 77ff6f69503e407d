import { beforeAll, describe, expect, test } from "bun:test";
import { DEPLOYMENT_STATUSES, SERVICE_STATUSES } from "../../domain/deployments/deployment.ts";
import { ACTIONS, RESOURCES, ROLES } from "../../domain/identity/permission.ts";
import { escapeHtml } from "../../http/page.ts";
import { memoryApp } from "../support/apps/app.ts";

// The test reads a document of any shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

let document: Loose;
let page: string;

beforeAll(async () => {
  const app = await memoryApp();
  document = (await app.call("GET", "/api/openapi.json")).body;
  page = (await app.call("GET", "/api/docs")).text;
});

/** All schemas of the document with their locations. Named schemas are listed once, under their name. */
function* schemas(): Generator<readonly [string, Loose]> {
  for (const [name, schema] of Object.entries<Loose>(document.components.schemas)) yield* inner(name, schema);
  for (const [path, methods] of Object.entries<Loose>(document.paths)) {
    for (const [method, { parameters = [], requestBody, responses }] of Object.entries<Loose>(methods)) {
      const at = `${method} ${path}`;
      for (const { name, schema } of parameters) yield* inner(`${at} ?${name}`, schema);
      const contents = [requestBody, ...Object.values<Loose>(responses)].map((each) => each?.content ?? {});
      for (const content of contents) for (const { schema } of Object.values<Loose>(content)) yield* inner(at, schema);
    }
  }
}

function* inner(at: string, schema: Loose): Generator<readonly [string, Loose]> {
  yield [at, schema];
  for (const [name, field] of Object.entries<Loose>(schema.properties ?? {})) yield* inner(`${at}.${name}`, field);
  for (const each of [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]) yield* inner(at, each);
}

const says = ({ $ref, anyOf = [], description }: Loose): boolean =>
  description !== undefined || $ref !== undefined || anyOf.some(says);

describe("GET /api/openapi.json", () => {
  test("describes every field of every body and response", () => {
    const silent = [...schemas()].flatMap(([at, { properties = {} }]) =>
      Object.entries<Loose>(properties).flatMap(([name, field]) => (says(field) ? [] : [`${at}.${name}`])),
    );
    expect([...new Set(silent)]).toEqual([]);
  });

  test("describes every parameter", () => {
    const silent = Object.entries<Loose>(document.paths).flatMap(([path, methods]) =>
      Object.values<Loose>(methods).flatMap(({ parameters = [] }) =>
        parameters.filter(({ description }: Loose) => !description).map(({ name }: Loose) => `${path} ${name}`),
      ),
    );
    expect(silent).toEqual([]);
  });

  test("describes every value of every field with a fixed set of values", () => {
    for (const [at, { enum: values, "x-enumDescriptions": meanings = {} }] of schemas()) {
      if (values === undefined) continue;
      expect([at, Object.keys(meanings)]).toEqual([at, values]);
      for (const meaning of Object.values<string>(meanings)) expect(meaning.length).toBeGreaterThan(5);
    }
  });

  test("names schemas that many fields share", () => {
    const named = document.components.schemas;
    expect(named.DeploymentStatus.enum).toEqual([...DEPLOYMENT_STATUSES]);
    expect(named.ServiceStatus.enum).toEqual([...SERVICE_STATUSES]);
    expect([named.Role.enum, named.Resource.enum, named.Level.enum]).toEqual([
      [...ROLES],
      [...RESOURCES],
      [...ACTIONS],
    ]);
    for (const name of ["Trigger", "Decision", "Step", "Permission"]) expect(named[name].enum).toBeArray();
    const { status } = named.Deployment.properties;
    expect(status).toEqual({ $ref: "#/components/schemas/DeploymentStatus", description: expect.any(String) });
  });
});

/** The section of a type or a route on the page. */
function part(id: string): string {
  const start = page.indexOf(`<details id="${id}">`);
  return page.slice(start, page.indexOf("</details>", start));
}

/** The table row of a field. */
function row(id: string, field: string): string {
  return part(id)
    .split("<tr>")
    .find((text) => text.startsWith(`<td><code>${field}</code>`))!;
}

describe("GET /api/docs", () => {
  test("shows every named type with its fields", () => {
    for (const [name, { properties = {} }] of Object.entries<Loose>(document.components.schemas)) {
      for (const field of Object.keys(properties)) expect(row(`type-${name}`, field)).toBeString();
    }
  });

  test("shows every value of a status, a role and a level with its meaning", () => {
    for (const name of ["DeploymentStatus", "ServiceStatus", "Trigger", "Decision", "Role", "Resource", "Level"]) {
      const { enum: values, "x-enumDescriptions": meanings } = document.components.schemas[name];
      for (const value of values) {
        expect(part(`type-${name}`)).toContain(`<td><code>${value}</code><td>${escapeHtml(meanings[value])}`);
      }
    }
  });

  test("shows what is required, the default, and the type of a field", () => {
    expect(row("project.create", "name")).toContain("<td>required");
    expect(row("project.create", "slug")).not.toContain("required");
    expect(row("deployment.pin", "pinned")).toContain("Defaults to <code>true</code>");
    expect(row("project.create", "port")).toContain("1 to 65535");
    expect(row("project.list", "perPage")).toContain("Defaults to <code>50</code>");
    expect(row("type-Deployment", "status")).toContain('<a href="#type-DeploymentStatus">DeploymentStatus</a>');
    expect(row("type-Deployment", "decision")).toContain("or null");
    expect(row("server.create", "sshPort")).toContain("Defaults to <code>22</code>");
  });

  test("shows nested fields by their path", () => {
    expect(row("variable.change", "upserts[].key")).toContain("<td>required");
    expect(row("type-Me", "credential.kind")).toBeString();
  });
});
