import { describe, expect, test } from "bun:test";
import { Failure } from "../../domain/failure.ts";
import { Secret } from "../../domain/secret.ts";
import type { ServiceDefinition } from "../../domain/services/service_definition.ts";
import { checkVariables } from "../../domain/services/check_variables.ts";
import { givenServices } from "../../domain/services/given_services.ts";
import { PLAIN_CONTAINER, type ServiceSpec } from "../../domain/services/service_spec.ts";

const NOTHING = new Map<string, Secret>();

function one(definition: Omit<ServiceDefinition, "name">): ServiceSpec {
  return givenServices([{ name: "web", ...definition }], NOTHING)[0]!;
}

function refusal(definitions: readonly ServiceDefinition[]): Failure {
  try {
    givenServices(definitions, NOTHING);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error("The services were accepted");
}

const APP = {
  kind: "app",
  rootDirectory: "",
  framework: null,
  packageManager: null,
  installCommand: null,
  buildCommand: null,
  startCommand: null,
  outputDirectory: null,
};
const DOCKERFILE = { kind: "dockerfile", context: "", dockerfile: null, text: null, target: null, args: {} };
const IMAGE = { kind: "image", reference: "postgres:18", pull: "missing" };

describe("givenServices()", () => {
  test("fills in the defaults of a service that has only a name", () => {
    expect(one({})).toEqual({
      name: "web",
      from: APP,
      environment: {},
      ports: [],
      dependsOn: [],
      oneShot: false,
      container: PLAIN_CONTAINER,
    } as never);
  });

  test.each([
    [{ image: "postgres:18" }, IMAGE],
    [
      { image: "postgres:18", pullPolicy: "always" },
      { ...IMAGE, pull: "always" },
    ],
    [{ image: "ghcr.io:443/acme/my-app_x.y:v1" }, { ...IMAGE, reference: "ghcr.io:443/acme/my-app_x.y:v1" }],
    [{ build: "." }, DOCKERFILE],
    [{ build: "./apps//web/" }, { ...DOCKERFILE, context: "apps/web" }],
    [{ build: {} }, DOCKERFILE],
    [
      { build: { context: "a", dockerfile: "b/Dockerfile.prod", target: "run", args: { A: "1" } } },
      { ...DOCKERFILE, context: "a", dockerfile: "b/Dockerfile.prod", target: "run", args: { A: "1" } },
    ],
    [{ dockerfile: "Dockerfile.web" }, { ...DOCKERFILE, dockerfile: "Dockerfile.web" }],
    [
      { build: "a", dockerfile: "D" },
      { ...DOCKERFILE, context: "a", dockerfile: "D" },
    ],
    [
      { rootDirectory: "apps/web", dockerfile: "D" },
      { ...DOCKERFILE, context: "apps/web", dockerfile: "D" },
    ],
    [
      { image: "acme/web:dev", build: "a" },
      { ...DOCKERFILE, context: "a" },
    ],
    [
      { rootDirectory: "./apps/web", startCommand: "bun .", outputDirectory: "dist/" },
      { ...APP, rootDirectory: "apps/web", startCommand: "bun .", outputDirectory: "dist" },
    ],
    [
      { build: "apps/web", framework: "bun", packageManager: "bun", installCommand: "i", buildCommand: "b" },
      {
        ...APP,
        rootDirectory: "apps/web",
        framework: "bun",
        packageManager: "bun",
        installCommand: "i",
        buildCommand: "b",
      },
    ],
  ] as [Omit<ServiceDefinition, "name">, object][])("returns the source of %j", (definition, from) => {
    expect(one(definition).from).toEqual(from as never);
  });

  test("keeps the TCP ports inside the container, in order and without duplicates", () => {
    const ports = [80, "8080:443", "127.0.0.1:53:53/udp", "3000-3002", "9000:80"];
    expect(one({ ports }).ports).toEqual([80, 443, 3000, 3001, 3002]);
  });

  test("reads variables from a map and a list, and requires the named ones from the project", () => {
    expect(one({ environment: { A: "1", B: "" } }).environment).toEqual({ A: "1", B: "" });
    const environment = ["A=1=2", "B=", "TOKEN"];
    const variables = new Map([["TOKEN", new Secret("letmein")]]);
    expect(givenServices([{ name: "web", environment }], variables)[0]!.environment).toEqual({
      A: "1=2",
      B: "",
    });
    const missing = () => givenServices([{ name: "web", environment }], new Map());
    expect(missing).toThrow("the project has no variable of this name");
  });

  test("takes a named variable also from the service's own, and from no other service's", () => {
    const variables = new Map([
      ["web/TOKEN", new Secret("letmein")],
      ["web/my.key", new Secret("odd")],
    ]);
    const environment = ["TOKEN", "my.key"];
    const [spec] = givenServices([{ name: "web", environment }], variables);
    expect([spec!.environment, spec!.namedVariables]).toEqual([{}, environment]);
    expect(checkVariables([spec!], variables)).toEqual([spec!]);
    const other = givenServices([{ name: "api", environment: ["TOKEN"] }]);
    expect(() => checkVariables(other, variables)).toThrow('Cannot deploy "api": the project has no variable TOKEN');
    for (const name of ["TOKEN", "web/TOKEN"]) {
      const missing = () => givenServices([{ name: "api", environment: [name] }], variables);
      expect(missing).toThrow("the project has no variable of this name");
    }
  });

  test("reads commands, volumes, limits and health checks", () => {
    const spec = one({
      command: `serve --name "my shop"`,
      entrypoint: ["/bin/tini", "--"],
      volumes: ["data:/data", "./conf:/conf:ro", "/srv/x:/x", "/cache"],
      resources: { cpus: 0.5, memoryBytes: 67_108_864 },
      healthcheck: { test: ["CMD", "pg_isready"], interval: "1m30s", timeout: 5, retries: 3, startPeriod: "500ms" },
      restart: "on-failure:3",
    });
    expect(spec.oneShot).toBe(false);
    expect(spec.container).toEqual({
      ...PLAIN_CONTAINER,
      command: ["serve", "--name", "my shop"],
      entrypoint: ["/bin/tini", "--"],
      mounts: [
        { kind: "volume", name: "data", external: false, target: "/data", readOnly: false },
        { kind: "source", path: "conf", target: "/conf", readOnly: true },
        { kind: "host", path: "/srv/x", target: "/x", readOnly: false },
        { kind: "volume", name: null, external: false, target: "/cache", readOnly: false },
      ],
      limits: { ...PLAIN_CONTAINER.limits, cpus: 0.5, memoryBytes: 67_108_864 },
      healthcheck: { test: ["pg_isready"], intervalMs: 90_000, timeoutMs: 5_000, retries: 3, startPeriodMs: 500 },
    });
  });

  test.each([
    [undefined, null],
    ["curl -f localhost", { shell: "curl -f localhost" }],
    [["CMD-SHELL", "exit 0"], { shell: "exit 0" }],
    [
      ["CMD", "a", "b c"],
      ["a", "b c"],
    ],
    [
      ["a", "b"],
      ["a", "b"],
    ],
  ])("reads the health check test %j", (given, read) => {
    const health = one({ healthcheck: given === undefined ? {} : { test: given } }).container.healthcheck;
    expect(health).toEqual({
      test: read,
      intervalMs: null,
      timeoutMs: null,
      retries: null,
      startPeriodMs: null,
    } as never);
  });

  test("can disable the health check of an image", () => {
    expect(one({ healthcheck: { test: ["NONE"] } }).container.healthcheck).toBe("none");
  });

  test("reads dependencies as a list and as a map, and makes services one-shot that others wait to complete", () => {
    const specs = givenServices(
      [
        {
          name: "web",
          dependsOn: { migrate: { condition: "service_completed_successfully" }, db: { condition: "service_healthy" } },
        },
        { name: "worker", dependsOn: ["db"], restart: "no" },
        { name: "migrate", image: "acme/migrate" },
        { name: "db", image: "postgres:18" },
        { name: "seed", oneShot: true },
      ],
      NOTHING,
    );
    const plain = { restart: false, required: true };
    expect(specs.map(({ dependsOn }) => dependsOn)).toEqual([
      [
        { service: "migrate", condition: "service_completed_successfully", ...plain },
        { service: "db", condition: "service_healthy", ...plain },
      ],
      [{ service: "db", condition: "service_started", ...plain }],
      [],
      [],
      [],
    ]);
    expect(specs.filter(({ oneShot }) => oneShot).map(({ name }) => name)).toEqual(["migrate", "seed"]);
  });

  test.each([
    ["image", { image: "Not An Image" }],
    ["image", { image: "--privileged" }],
    ["image", { image: "a:b:c" }],
    ["installCommand", { image: "postgres:18", installCommand: "x" }],
    ["startCommand", { dockerfile: "D", startCommand: "x" }],
    ["build", { build: "../x" }],
    ["build", { build: "/etc" }],
    ["build", { build: "https://git.example.com/x.git" }],
    ["build", { build: "-x" }],
    ["build.context", { build: { context: "a/../../x" } }],
    ["build.dockerfile", { build: { dockerfile: "../D" } }],
    ["build.target", { build: { target: "a b" } }],
    ["build.args", { build: { args: { "a-b": "1" } } }],
    ["dockerfile", { dockerfile: "/etc/passwd" }],
    ["dockerfile", { dockerfile: "." }],
    ["rootDirectory", { rootDirectory: "../x" }],
    ["rootDirectory", { rootDirectory: "../x", dockerfile: "D" }],
    ["outputDirectory", { outputDirectory: "../x" }],
    ["ports.1", { ports: [80, "web"] }],
    ["ports.0", { ports: ["70000"] }],
    ["ports", { ports: ["1000-2000"] }],
    ["environment.1", { environment: ["A=1", "MISSING"] }],
    ["environment.0", { environment: ["=1"] }],
    ["environment.0", { environment: ["A B=1"] }],
    ["environment.A", { environment: { A: "\0" } }],
    ["volumes.0", { volumes: ["data"] }],
    ["volumes.1", { volumes: ["a:/x", "b:/x/"] }],
    ["command", { command: "echo 'x" }],
    ["command", { command: ["a\0"] }],
    ["entrypoint", { entrypoint: '"' }],
    ["restart", { restart: "sometimes" }],
    ["restart", { restart: "on-failure:x" }],
    ["healthcheck.test", { healthcheck: { test: [] } }],
    ["healthcheck.test", { healthcheck: { test: ["CMD"] } }],
    ["healthcheck.interval", { healthcheck: { interval: "soon" } }],
    ["healthcheck.startPeriod", { healthcheck: { startPeriod: "-1s" } }],
    ["resources.memoryBytes", { resources: { memoryBytes: 1 } }],
    ["resources.cpus", { resources: { cpus: 0.001 } }],
    ["dependsOn.0", { dependsOn: ["web"] }],
    ["dependsOn.0", { dependsOn: ["unknown"] }],
    ["dependsOn.1", { dependsOn: ["other", "other"] }],
    ["dependsOn.other", { dependsOn: { other: { condition: "service_happy" } } }],
  ] as [string, Omit<ServiceDefinition, "name">][])("names %s in %j", (field, definition) => {
    const { kind, details } = refusal([{ name: "other" }, { name: "web", ...definition }]);
    expect([kind, details?.[0]?.path]).toEqual(["invalid", `services.1.${field}`]);
  });

  test("refuses duplicate names, and services that wait for each other", () => {
    expect(refusal([{ name: "a" }, { name: "b" }, { name: "a" }]).details?.[0]?.path).toBe("services.2.name");
    const circle = refusal([
      { name: "first" },
      { name: "a", dependsOn: ["first", "b"] },
      { name: "b", dependsOn: ["c"] },
      { name: "c", dependsOn: ["a"] },
    ]);
    expect(circle.details?.[0]?.path).toBe("services.1.dependsOn");
    expect(circle.message).toContain('"a" waits for "b" and "b" waits for "c" and "c" waits for "a"');
  });

  test("does not repeat the refused value", () => {
    for (const definition of [{ image: "Swordfish!" }, { ports: ["swordfish"] }, { volumes: ["x:/y:swordfish"] }])
      expect(refusal([{ name: "web", ...definition }]).message.toLowerCase()).not.toContain("swordfish");
  });
});
