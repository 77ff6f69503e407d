import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { beforeAll, describe, expect, test } from "bun:test";
import type { DeclaredRoute } from "../../http/access.ts";
import { openapi } from "../../http/openapi.ts";
import { Problem } from "../../http/problems.ts";
import { memoryApp, type TestApp } from "../support/apps/app.ts";

// The test reads a document of any shape.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

let app: TestApp;
let document: Loose;

beforeAll(async () => {
  app = await memoryApp();
  document = (await app.call("GET", "/api/openapi.json")).body;
});

const operationOf = ({ method, path }: Pick<DeclaredRoute, "method" | "path">): Loose =>
  document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];

/** Every value in a document, with its location. */
function* parts(value: unknown, at = "#"): Generator<readonly [string, unknown]> {
  yield [at, value];
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* parts(inner, `${at}/${key}`);
}

describe("GET /api/openapi.json", () => {
  test("is OpenAPI 3.1 with title, version, server and both ways to authenticate", () => {
    expect(document.openapi).toBe("3.1.0");
    expect(document.info).toMatchObject({ title: "Slipway", version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
    expect(document.servers).toEqual([{ url: "http://slipway.test" }]);
    expect(document.components.securitySchemes).toMatchObject({
      token: { type: "http", scheme: "bearer" },
      session: { type: "apiKey", in: "cookie", name: "slipway_session" },
    });
    expect(document.security).toEqual([{ token: [] }, { session: [] }]);
  });

  test("has exactly the existing routes, each with its own id, a summary and a tag", () => {
    const routes = app.routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`);
    const operations = Object.entries<Loose>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(operations.toSorted()).toEqual(routes.toSorted());
    const ids = app.routes.map((route) => operationOf(route).operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const route of app.routes) {
      const { operationId, summary, tags } = operationOf(route);
      expect(operationId).toMatch(/^[a-z_]+\.[a-z_]+$/);
      expect(summary.length).toBeGreaterThan(10);
      expect(tags).toHaveLength(1);
    }
  });

  test("describes for every route which permission it needs, or why it needs none", () => {
    for (const route of app.routes) {
      const operation = operationOf(route);
      expect(operation["x-permission"]).toBe(route.permission);
      expect(operation["x-open"]).toBe(route.open);
      expect(operation.security).toEqual(route.open ? [] : undefined);
      expect((operation["x-permission"] === undefined) !== (operation["x-open"] === undefined)).toBe(true);
    }
  });

  test("declares every part of a path, and the headers that a caller may send", () => {
    for (const route of app.routes) {
      const { parameters = [] } = operationOf(route);
      const names = (where: string) =>
        parameters.filter((parameter: Loose) => parameter.in === where).map(({ name }: Loose) => name);
      expect(names("path")).toEqual([...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name));
      expect(names("header").includes("X-Organization-Id")).toBe(route.permission !== undefined);
      const { callerField, unrepeatable } = route.operation;
      const isIdentified = route.permission !== undefined || callerField !== undefined;
      const repeatable = route.method !== "GET" && isIdentified && !unrepeatable;
      expect(names("header").includes("Idempotency-Key")).toBe(repeatable);
      for (const parameter of parameters) expect(parameter.required).toBe(parameter.in === "path");
    }
    const { parameters } = document.paths["/api/audit"].get;
    expect(parameters.map(({ name }: Loose) => name)).toEqual([
      "page",
      "perPage",
      "userId",
      "action",
      "target",
      "X-Organization-Id",
    ]);
    expect(parameters[1].schema).toEqual({ type: "integer", minimum: 1, maximum: 100, default: 50 });
  });

  test("declares a success response and every error of each route, with the error body", () => {
    for (const route of app.routes) {
      const { responses } = operationOf(route);
      const good = Object.keys(responses).filter((status) => status < "300");
      const empty = route.operation.nothing === undefined ? [] : ["204"];
      expect(good).toEqual([String(route.operation.status ?? 200), ...empty]);
      const errors = Object.keys(responses).filter((status) => status >= "400");
      if (route.permission) expect(errors).toEqual(expect.arrayContaining(["401", "403", "404", "503"]));
      if (route.method !== "GET") expect(errors).toEqual(expect.arrayContaining(["400", "413", "415", "503"]));
      if (route.path.includes(":")) expect(errors).toContain("404");
      expect(errors).not.toContain("422");
      for (const status of errors) {
        expect(responses[status].description).toBeString();
        expect(responses[status].content["application/json"].schema.$ref).toBe("#/components/schemas/Problem");
      }
    }
  });

  test("declares that the feed of a deployment may have no more events", () => {
    const { responses } = document.paths["/api/deployments/{id}/stream"].get;
    expect(responses["200"].content).toHaveProperty(["text/event-stream"]);
    expect(responses["204"]).toEqual({ description: expect.any(String), headers: responses["200"].headers });
  });

  test("declares both media types of a log", () => {
    const { content } = document.paths["/api/deployments/{id}/logs"].get.responses["200"];
    expect(Object.keys(content)).toEqual(["application/json", "text/plain"]);
  });

  test("every reference resolves, and every named schema is used", () => {
    const used = new Set<string>();
    for (const [at, value] of parts(document)) {
      if (!at.endsWith("/$ref")) continue;
      const target = String(value)
        .slice(2)
        .split("/")
        .reduce<Loose>((part, name) => part?.[name], document);
      expect([at, typeof target]).toEqual([at, "object"]);
      used.add(String(value).split("/").at(-1)!);
    }
    expect([...used].toSorted()).toEqual(Object.keys(document.components.schemas).toSorted());
  });

  test("contains only plain JSON and keywords of JSON Schema", () => {
    const made = openapi(app, { version: "0.0.0", url: "http://x" });
    expect(JSON.parse(JSON.stringify(made))).toEqual(made);
    for (const [at, value] of parts(made)) {
      expect([at, value === undefined]).toEqual([at, false]);
      if (typeof value === "object" && value !== null)
        expect([at, Object.getOwnPropertySymbols(value)]).toEqual([at, []]);
    }
    const KEYWORDS = new Set(
      "$ref additionalProperties anyOf const default description enum examples exclusiveMinimum format items maxItems maxLength maxProperties maximum minItems minLength minimum pattern patternProperties properties required title type x-enumDescriptions".split(
        " ",
      ),
    );
    const schemas = [
      ...Object.values<object>(document.components.schemas),
      ...app.routes.flatMap((route) =>
        Object.values<Loose>(operationOf(route).requestBody?.content ?? {}).map(({ schema }) => schema),
      ),
    ];
    for (const schema of schemas) expect([...unknownKeywords(schema, KEYWORDS)]).toEqual([]);
  });
});

/** The unknown keywords of a schema and of its nested schemas. */
function* unknownKeywords(schema: Loose, known: ReadonlySet<string>): Generator<string> {
  for (const [keyword, value] of Object.entries<Loose>(schema)) {
    if (!known.has(keyword)) yield keyword;
    const inner =
      keyword === "properties" || keyword === "patternProperties"
        ? Object.values<Loose>(value)
        : keyword === "anyOf"
          ? value
          : keyword === "items"
            ? [value]
            : [];
    for (const part of inner) yield* unknownKeywords(part, known);
  }
}

describe("examples", () => {
  test("of every body and response exist and match their own schema", () => {
    for (const route of app.routes) {
      const { requestBody, responses } = operationOf(route);
      const { body } = route.hooks as { body?: TSchema };
      const media = requestBody?.content["application/json"];
      if (body)
        expect([
          route.path,
          [...Value.Errors(body, media.example)].map(({ path, message }) => `${path} ${message}`),
        ]).toEqual([route.path, []]);
      const { answer, status = 200 } = route.operation;
      if ("media" in answer) continue;
      const { example } = responses[status].content["application/json"];
      expect([route.path, [...Value.Errors(answer, example)].map(({ path, message }) => `${path} ${message}`)]).toEqual(
        [route.path, []],
      );
    }
    expect(Value.Check(Problem, document.components.responses.Problem.content["application/json"].example)).toBe(true);
  });

  test("of bodies are accepted by the schemas of the routes themselves", async () => {
    for (const { method, path, operation, hooks } of app.routes) {
      if (method === "GET" || operation.streams || !(hooks as { body?: unknown }).body) continue;
      const { example } = operationOf({ method, path }).requestBody.content["application/json"];
      const answer = await app.call(method, path.replace(/:\w+/, "x"), { token: app.owner, body: example });
      expect([path, answer.body.code]).not.toEqual([path, "unreadable_body"]);
      const wrong = answer.body.error?.startsWith("Cannot accept the request");
      expect([method, path, wrong ?? false]).toEqual([method, path, false]);
    }
  });
});

describe("GET /api/docs", () => {
  test("is a page that shows every route and loads nothing", async () => {
    const { text, headers } = await app.call("GET", "/api/docs");
    expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/=]+'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'$/,
    );
    expect(headers.get("x-frame-options")).toBe("DENY");
    for (const route of app.routes) {
      const { operationId, summary } = operationOf(route);
      expect(text).toContain(`<details id="${operationId}">`);
      expect(text).toContain(Bun.escapeHTML(summary).replaceAll("&#x27;", "&#39;").replaceAll("&quot;", "&#34;"));
    }
    const links = [...text.matchAll(/(?:href|src|action|url)\s*[=(]\s*["']?([^"')\s>]+)/g)].map(([, to]) => to!);
    expect(links.filter((to) => !to.startsWith("#") && to !== "/api/openapi.json")).toEqual([]);
    expect(text).not.toMatch(/<(?:script|img|link|iframe|object|embed|form)\b/i);
    expect(text).not.toMatch(/undefined|\[object |NaN/);
  });

  test("closes what it opens, and its style is the one that the policy allows", async () => {
    const { text, headers } = await app.call("GET", "/api/docs");
    for (const tag of [
      "html",
      "style",
      "h1",
      "h2",
      "h4",
      "nav",
      "details",
      "summary",
      "table",
      "pre",
      "code",
      "span",
      "p",
      "a",
    ]) {
      const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
      expect([tag, count(new RegExp(`<${tag}[ >]`, "g"))]).toEqual([tag, count(new RegExp(`</${tag}>`, "g"))]);
    }
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? "";
    const digest = new Bun.CryptoHasher("sha256").update(style).digest("base64");
    expect(headers.get("content-security-policy")).toContain(`'sha256-${digest}'`);
    const anchors = [...text.matchAll(/href="#([^"]+)"/g)].map(([, to]) => to!);
    for (const anchor of anchors) expect(text).toContain(`id="${anchor}"`);
  });
});
