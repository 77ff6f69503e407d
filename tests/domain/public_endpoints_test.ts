import { describe, expect, test } from "bun:test";
import { addressesOf } from "../../domain/deployments/public_address.ts";
import type { DomainName } from "../../domain/domains/domain_name.ts";
import type { PublicEndpoint } from "../../domain/services/service_definition.ts";
import { type Listening, resolveEndpoints } from "../../domain/services/resolve_endpoints.ts";

const APP: Listening["from"] = { kind: "app" };
const IMAGE: Listening["from"] = { kind: "image" };

function app(name: string, ...ports: number[]): Listening {
  return { name, from: APP, ports, oneShot: false };
}

function image(name: string, ...ports: number[]): Listening {
  return { name, from: IMAGE, ports, oneShot: false };
}

function oneShot(name: string, ...ports: number[]): Listening {
  return { ...app(name, ...ports), oneShot: true };
}

describe("resolveEndpoints() without endpoints", () => {
  test.each([
    ["the only service that listens", [image("shop", 80), image("worker")], { service: "shop", port: 80 }],
    ["the only app", [app("shop"), image("worker")], { service: "shop", port: null }],
    ["web before others", [image("api", 1), image("web", 2, 3), image("frontend", 4)], { service: "web", port: 2 }],
    [
      "a well-known name before the rest",
      [image("db", 1), image("server", 2), image("api", 3)],
      { service: "api", port: 3 },
    ],
    ["a built service before a database", [image("db", 5432), app("shop")], { service: "shop", port: null }],
    ["the first with ports", [image("one", 1), image("two", 2)], { service: "one", port: 1 }],
    ["the first with ports of several apps", [app("one"), app("two", 2)], { service: "two", port: 2 }],
    ["not a one-shot", [oneShot("web", 80), image("shop", 81)], { service: "shop", port: 81 }],
  ])("finds %s", (_, services, endpoint) => {
    expect(resolveEndpoints(services, [])).toEqual([endpoint]);
  });

  test("finds none when no service listens", () => {
    expect(resolveEndpoints([image("worker"), image("web"), oneShot("seed", 80)], [])).toEqual([]);
    expect(resolveEndpoints([], [])).toEqual([]);
  });
});

describe("resolveEndpoints()", () => {
  const SERVICES = [
    image("web", 80, 443),
    app("api", 3000),
    image("admin", 3000),
    image("worker"),
    oneShot("seed", 80),
  ];

  test.each([
    [{ service: "api" }, { service: "api", port: 3000 }],
    [
      { service: "web", port: 443 },
      { service: "web", port: 443 },
    ],
    [
      { service: "worker", port: 9000 },
      { service: "worker", port: 9000 },
    ],
    [{ service: "worker" }, { service: "worker", port: null }],
    [{ port: 80 }, { service: "web", port: 80 }],
    [{ port: "443" }, { service: "web", port: 443 }],
    [{}, { service: "web", port: 80 }],
    [
      { service: "api", domain: "shop", targetPath: "/api" },
      { service: "api", port: 3000, domain: "shop", targetPath: "/api" },
    ],
  ] as [PublicEndpoint, object][])("resolves %j to %j", (endpoint, resolved) => {
    expect(resolveEndpoints(SERVICES, [endpoint])).toEqual([resolved as never]);
  });

  test("requires a service name when several listen on the port", () => {
    expect(() => resolveEndpoints(SERVICES, [{ port: 3000 }])).toThrow(
      expect.objectContaining({
        code: "endpoint_ambiguous",
        message: expect.stringMatching(/"api", "admin".*"service"/),
      }),
    );
  });

  test("uses the only built service for a port that no service declares", () => {
    expect(resolveEndpoints([app("shop"), image("db", 5432)], [{ port: 8080 }])).toEqual([
      { service: "shop", port: 8080 },
    ]);
    expect(() => resolveEndpoints([app("a"), app("b")], [{ port: 8080 }])).toThrow('"a", "b"');
    expect(() => resolveEndpoints([image("a", 80)], [{ port: 81 }])).toThrow(
      expect.objectContaining({ code: "endpoint_unresolved" }),
    );
    expect(() => resolveEndpoints([image("worker")], [{}])).toThrow(
      expect.objectContaining({ code: "endpoint_unresolved" }),
    );
  });

  test.each([
    [[{ service: "unknown" }], "publicEndpoints.0.service"],
    [[{ service: "web" }, { service: "seed", targetPath: "/x" }], "publicEndpoints.1.service"],
    [[{ service: "web" }, { service: "api" }], "publicEndpoints.1"],
    [[{ targetPath: "/a/" }, { service: "api", targetPath: "/a" }], "publicEndpoints.1"],
    [
      [{ domain: "x" }, { service: "api", domain: "x", domainType: "free", customDomain: "y.example" }],
      "publicEndpoints.1",
    ],
    [[{ customDomain: "X.example." }, { service: "api", customDomain: "x.example" }], "publicEndpoints.1"],
  ] as [PublicEndpoint[], string][])("refuses %j naming %s", (endpoints, path) => {
    expect(() => resolveEndpoints(SERVICES, endpoints)).toThrow(
      expect.objectContaining({ kind: "invalid", details: [expect.objectContaining({ path })] }),
    );
  });

  test("accepts the same path under other names", () => {
    const endpoints = [
      { domain: "a" },
      { domain: "b" },
      {},
      { customDomain: "a.example" },
      { domain: "a", targetPath: "/x" },
    ];
    expect(resolveEndpoints(SERVICES, endpoints)).toHaveLength(5);
  });
});

const PROVEN = ["shop.localhost", "shop.example.com"];

function nameOf(hostname: string, verified = true): DomainName {
  const at = new Date(0);
  const ids = { id: "dom_1", organizationId: "org_1", projectId: "prj_123456" };
  return { ...ids, hostname, type: "free", proof: "x", verifiedAt: verified ? at : null, createdAt: at };
}

interface Setting {
  /** Services whose endpoints are resolved first, as in a deployment. If omitted, there is a single app. */
  readonly services?: readonly Listening[];
  readonly environment?: "production" | "preview";
  readonly hosts?: readonly string[];
}

function addresses(endpoints: readonly PublicEndpoint[], setting: Setting = {}): string[] {
  const { services, environment = "production", hosts = PROVEN } = setting;
  const resolved =
    services && resolveEndpoints(services, endpoints).map(({ port, ...one }) => ({ ...one, ...(port && { port }) }));
  const plan = { projectType: services ? "services" : "app", publicEndpoints: resolved ?? endpoints };
  const deployment = { environment, version: 7, plan } as unknown as Parameters<typeof addressesOf>[0];
  const project = { id: "prj_123456", slug: "shop" } as Parameters<typeof addressesOf>[1]["project"];
  const domains = [...hosts.map((host) => nameOf(host)), nameOf("unproven.example.com", false)];
  return addressesOf(deployment, { project, domains, baseDomain: "localhost" }).map(
    ({ hostname, pathPrefix, service, port }) => `${hostname}${pathPrefix} ${service}:${port}`,
  );
}

describe("addressesOf()", () => {
  const services = [image("web", 80), image("api", 3000), image("db", 5432)];

  test("routes all proven names to the one service of a simple project", () => {
    expect(addresses([])).toEqual(["shop.localhost/ app:null", "shop.example.com/ app:null"]);
    expect(addresses([{ port: 3000, service: "web", domain: "shop" }])).toEqual(["shop.localhost/ app:3000"]);
    expect(addresses([{ targetPath: "/x/" }])).toEqual(["shop.localhost/x app:null", "shop.example.com/x app:null"]);
  });

  test("routes all proven names to the main service when several run without endpoints", () => {
    expect(addresses([], { services })).toEqual(["shop.localhost/ web:80", "shop.example.com/ web:80"]);
    expect(addresses([], { services: [image("worker")] })).toEqual([]);
  });

  test("routes hosts and paths to services and ports, in the order of the endpoints", () => {
    const endpoints = [
      { customDomain: "Shop.Example.com", service: "web" },
      { service: "api", targetPath: "/api" },
      { domain: "shop", customDomain: "shop.example.com", domainType: "free", service: "db" },
    ] as const;
    expect(addresses(endpoints, { services })).toEqual([
      "shop.example.com/ web:80",
      "shop.localhost/api api:3000",
      "shop.example.com/api api:3000",
      "shop.localhost/ db:5432",
    ]);
  });

  test("assigns an address once, to the endpoint that names it", () => {
    const endpoints = [{ service: "web" }, { domain: "shop", service: "api" }] as const;
    expect(addresses(endpoints, { services })).toEqual(["shop.example.com/ web:80", "shop.localhost/ api:3000"]);
    const same = [
      { domain: "shop", service: "api" },
      { customDomain: "shop.localhost", service: "web" },
    ] as const;
    expect(addresses(same, { services })).toEqual(["shop.localhost/ api:3000"]);
  });

  test("leaves out unproven names, and falls back to the names of the project when none is left", () => {
    const lost = { customDomain: "unproven.example.com", service: "api" };
    expect(addresses([lost, { domain: "shop" }], { services })).toEqual(["shop.localhost/ web:80"]);
    expect(addresses([lost], { services })).toEqual(["shop.localhost/ api:3000", "shop.example.com/ api:3000"]);
    expect(addresses([lost])).toEqual(["shop.localhost/ app:null", "shop.example.com/ app:null"]);
    expect(addresses([lost], { services, hosts: [] })).toEqual([]);
  });

  test("gives a preview its own host name with the path of each endpoint", () => {
    const endpoints = [
      { domain: "shop", service: "web" },
      { service: "api", targetPath: "/api" },
      { domain: "db", service: "db" },
    ];
    const preview = { services, environment: "preview" } as const;
    expect(addresses(endpoints, preview)).toEqual([
      "shop-v7-123456.localhost/ web:80",
      "shop-v7-123456.localhost/api api:3000",
    ]);
    expect(addresses([], preview)).toEqual(["shop-v7-123456.localhost/ web:80"]);
    expect(addresses([], { environment: "preview" })).toEqual(["shop-v7-123456.localhost/ app:null"]);
  });
});
