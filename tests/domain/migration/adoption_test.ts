import { describe, expect, test } from "bun:test";
import { adoptionOf } from "../../../domain/migration/adoption.ts";
import type { FoundContainer, FoundMount } from "../../../domain/migration/inventory.ts";
import { servicesIn } from "../../../domain/migration/stack.ts";
import { stackOf } from "../../../domain/migration/stack_of.ts";
import { givenServices } from "../../../domain/services/given_services.ts";
import type { ServiceDefinition } from "../../../domain/services/service_definition.ts";
import { found, foundImage, foundIn, type FoundInput, inventoryOf } from "../../support/inputs/found.ts";

const DIGEST = `nginx@sha256:${"d".repeat(64)}`;
const SERVER = "srv_01m7edka8326kz9mv55sbbg868";
const DEPENDS = "com.docker.compose.depends_on";

/** Adopts everything of a server with these containers. The definitions are ones that a project can have. */
function adopt(...containers: readonly FoundContainer[]) {
  const adoption = adoptionOf(servicesIn(stackOf(inventoryOf(containers), new Map())), SERVER);
  givenServices(adoption.services.map(({ definition }) => definition));
  return adoption;
}

function definitionOf(container: FoundInput): ServiceDefinition {
  return adopt(found(container)).services[0]!.definition;
}

function scaled(project: string, service: string, number: number): FoundContainer {
  const labels = { "com.docker.compose.container-number": `${number}` };
  return foundIn(project, service, { name: `${project}-${service}-${number}`, labels });
}

function mount(source: string, given: Partial<FoundMount> = {}): FoundMount {
  return {
    type: source.startsWith("/") ? "bind" : "volume",
    source,
    target: "/data",
    readOnly: false,
    anonymous: false,
    ...given,
  };
}

const names = ({ services }: ReturnType<typeof adopt>) => services.map(({ service }) => service);

function variablesOf(container: FoundInput) {
  return adopt(found(container)).variables.map(({ key, secret, value }) => [key, value.reveal(), secret]);
}

describe("names of adopted services", () => {
  test("are those of the services", () => {
    const adoption = adopt(foundIn("shop", "web"), foundIn("shop", "db"));
    expect(names(adoption)).toEqual(["db", "web"]);
    expect(adoption.warnings).toEqual([]);
    expect(adoption.services[1]).toMatchObject({ key: "shop/web", containerName: "shop-web-1", service: "web" });
  });

  test("have a number from the second container on", () => {
    const adoption = adopt(...[1, 2, 10].map((number) => scaled("shop", "web", number)));
    expect(names(adoption)).toEqual(["web", "web-2", "web-3"]);
    expect(adoption.warnings).toEqual([
      "shop/web: it runs 3 times. Each container becomes a service of its own",
      "shop-web-2 becomes the service web-2 of the project",
      "shop-web-10 becomes the service web-3 of the project",
    ]);
  });

  test("have the project before them where two are equal", () => {
    const adoption = adopt(foundIn("blog", "web"), foundIn("shop", "web"), found({ name: "web" }));
    expect(names(adoption)).toEqual(["blog-web", "shop-web", "web"]);
  });

  test("stay apart whatever they are", () => {
    const containers = [
      foundIn("a", "b-c", { name: "one" }),
      foundIn("a-b", "c", { name: "two" }),
      found({ name: "web-2" }),
      scaled("shop", "web", 1),
      scaled("shop", "web", 2),
      found({ name: "web" }),
    ];
    const all = names(adopt(...containers));
    expect(new Set(all).size).toBe(containers.length);
  });

  test.each([
    ["my service!", "my-service-"],
    ["_hidden", "hidden"],
    ["日本", "service"],
    ["x".repeat(100), "x".repeat(40)],
    ["Web.App_1-a", "Web-App_1-a"],
  ])("keep what they can of %j", (name, expected) => {
    expect(names(adopt(found({ name })))).toEqual([expected]);
  });
});

describe("the definition of an adopted service", () => {
  test("says what differs from its image, which it names by digest", () => {
    expect(definitionOf({})).toEqual({ name: "web", image: DIGEST, restart: "no" });
    expect(
      definitionOf({
        command: ["serve", "--port", "80"],
        entrypoint: ["/entry"],
        ports: [
          { port: 80, protocol: "tcp", published: { address: "", port: 8080 } },
          { port: 53, protocol: "udp", published: { address: "127.0.0.1", port: 53 } },
          { port: 443, protocol: "tcp", published: { address: "::1", port: 8443 } },
          { port: 90, protocol: "tcp", published: null },
        ],
        mounts: [mount("shop_data"), mount("/etc/shop", { target: "/conf", readOnly: true })],
        restart: "unless-stopped",
        limits: { memoryBytes: 67_108_864, cpus: 0.5 },
        healthcheck: { test: ["CMD", "true"], intervalMs: 5_000, timeoutMs: null, startPeriodMs: null, retries: 3 },
      }),
    ).toEqual({
      name: "web",
      image: DIGEST,
      command: ["serve", "--port", "80"],
      entrypoint: ["/entry"],
      ports: ["8080:80", "127.0.0.1:53:53/udp", "[::1]:8443:443", "90"],
      volumes: ["shop_data:/data", "/etc/shop:/conf:ro"],
      restart: "unless-stopped",
      resources: { memoryBytes: 67_108_864, cpus: 0.5 },
      healthcheck: { test: ["CMD", "true"], interval: "5000ms", retries: 3 },
    });
  });

  test.each<[string, FoundInput, string]>([
    [
      "the digest of its own repository",
      {
        image: "ghcr.io/acme/app:1",
        imageFacts: foundImage("x", { digests: [DIGEST, `ghcr.io/acme/app@sha256:${"e".repeat(64)}`] }),
      },
      `ghcr.io/acme/app@sha256:${"e".repeat(64)}`,
    ],
    [
      "the id of an image that no registry has",
      { imageFacts: foundImage("x", { digests: [] }) },
      `sha256:${"1".repeat(64)}`,
    ],
    ["the id of an image that is gone", { imageFacts: null }, `sha256:${"1".repeat(64)}`],
  ])("names its image by %s", (_, container, image) => {
    expect(definitionOf(container).image).toBe(image);
  });

  test.each<[FoundInput, boolean]>([
    [{ state: "exited" }, true],
    [{ state: "exited", restart: "on-failure" }, true],
    [{ state: "exited", restart: "on-failure:3" }, true],
    [{ state: "exited", restart: "always" }, false],
    [{ state: "exited", restart: "unless-stopped" }, false],
    [{ state: "exited", exitCode: 1 }, false],
    [{ state: "exited", exitCode: null }, false],
    [{ state: "created" }, false],
    [{ state: "dead" }, false],
    [{ state: "running" }, false],
  ])("of a container with %o is a one-shot: %p", (container, isOneShot) => {
    const { definition, running } = adopt(found(container)).services[0]!;
    expect(definition.oneShot).toBe(isOneShot ? true : undefined);
    expect(running).toBe(container.state === "running");
  });

  test("repeats the image's command beside an entrypoint of its own, which would clear it", () => {
    expect(definitionOf({ entrypoint: ["/entry"] })).toMatchObject({ entrypoint: ["/entry"], command: ["serve"] });
  });

  test("depends only on services that are adopted too, by their new names", () => {
    const web = foundIn("shop", "web", {
      labels: { [DEPENDS]: "db:service_healthy:false,cache:service_started:false,web:x:x" },
    });
    const others = [foundIn("shop", "db"), foundIn("blog", "db"), foundIn("blog", "cache")];
    const { services } = adopt(web, ...others);
    const definition = services.find(({ key }) => key === "shop/web")!.definition;
    expect(definition.dependsOn).toEqual(["shop-db"]);
  });

  test("leaves out dependencies in a circle", () => {
    const web = foundIn("shop", "web", { labels: { [DEPENDS]: "db:service_started:false" } });
    const db = foundIn("shop", "db", { labels: { [DEPENDS]: "web:service_started:false" } });
    const { services, warnings } = adopt(web, db);
    expect(services.map(({ definition }) => definition.dependsOn)).toEqual([undefined, ["db"]]);
    expect(warnings).toEqual(["shop/db: left out which services it waits for, because they wait for it"]);
  });

  test("leaves unusual mounts to the recipe", () => {
    const mounts = [mount("", { type: "tmpfs" }), mount("x", { type: "other" })];
    expect(definitionOf({ mounts })).not.toHaveProperty("volumes");
  });

  test("leaves what a definition cannot express to the recipe, with a warning", () => {
    const { services, warnings } = adopt(found({ restart: "odd policy", mounts: [mount("/srv/a:b")] }));
    expect(services[0]!.definition).toEqual({ name: "web", image: DIGEST });
    expect(warnings).toEqual([
      "web: its volumes is kept as it is, but cannot be shown or changed here",
      "web: its restart is kept as it is, but cannot be shown or changed here",
    ]);
  });

  test("shows no secret", () => {
    const { services, warnings } = adopt(
      found({
        command: ["serve", "--password", "canary"],
        entrypoint: ["sh", "-c", "TOKEN=canary exec app"],
        healthcheck: {
          test: ["CMD-SHELL", "redis-cli -a canary ping"],
          intervalMs: null,
          timeoutMs: null,
          startPeriodMs: null,
          retries: null,
        },
        environment: { PASSWORD: "canary" },
        labels: { token: "canary" },
      }),
    );
    expect(JSON.stringify([services, warnings])).not.toContain("canary");
    expect(warnings).toHaveLength(3);
    for (const warning of warnings) expect(warning).toContain("looks like a secret, so it is kept encrypted");
  });
});

describe("variables of an adopted service", () => {
  test("are those that the image does not set, secrets marked", () => {
    const imageFacts = foundImage("nginx:1.27");
    const environment = { PATH: "/bin", A: "5$ $$ \n 'x'", EMPTY: "", DB_PASSWORD: "hunter2", URL: "redis://:x@y" };
    expect(variablesOf({ imageFacts, environment })).toEqual([
      ["web/A", "5$ $$ \n 'x'", false],
      ["web/EMPTY", "", false],
      ["web/DB_PASSWORD", "hunter2", true],
      ["web/URL", "redis://:x@y", true],
    ]);
    expect(variablesOf({ imageFacts, environment: { PATH: "/own" } })).toEqual([["web/PATH", "/own", false]]);
  });

  test("keep odd names, and leave out impossible ones with a warning", () => {
    const environment = { "spring.datasource-url": "1", "a b": "2", "tab\t": "3", 日本: "4" };
    const { variables, warnings } = adopt(found({ environment }));
    expect(variables.map(({ key }) => key)).toEqual(["web/spring.datasource-url", "web/日本"]);
    expect(warnings).toEqual([
      'web: left out "a b", "tab\\t": names of variables have no spaces, "=" or control characters',
    ]);
  });

  test("are those of each container of a scaled service", () => {
    const { variables } = adopt(
      ...[1, 2].map((number) => ({
        ...scaled("shop", "web", number),
        environment: found({ environment: { N: `${number}` } }).environment,
      })),
    );
    expect(variables.map(({ key, value }) => `${key}=${value.reveal()}`)).toEqual(["web/N=1", "web-2/N=2"]);
  });
});

test("an adoption keeps the recipe, the ids and the definition of each container", () => {
  const container = found({ recipe: "the recipe" });
  const [service] = adopt(container).services;
  expect(service).toMatchObject({ containerId: container.id, containerName: "web", imageId: container.imageId });
  expect(service!.recipe.reveal()).toBe("the recipe");
});
