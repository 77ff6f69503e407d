import { describe, expect, test } from "bun:test";
import type { FoundMount } from "../../../domain/migration/inventory.ts";
import { driftOnServer } from "../../support/inputs/compose_on_server.ts";
import { foundImage, foundIn, type FoundInput } from "../../support/inputs/found.ts";

/** How a container of `web` differs from what a compose file says about that service. */
async function drift(declared: object, container: FoundInput = {}) {
  const text = JSON.stringify({ services: { web: { image: "nginx:1.27", ...declared } }, volumes: { data: {} } });
  return (await driftOnServer([foundIn("shop", "web", container)], { "/srv/shop/compose.yml": text }))["web"]!;
}

function mount(type: FoundMount["type"], source: string, given: Partial<FoundMount> = {}): FoundMount {
  return { type, source, target: "/data", readOnly: false, anonymous: false, ...given };
}

const port = (published: { address: string; port: number | null } | null, inside = 80, protocol = "tcp") => ({
  port: inside,
  protocol,
  published,
});

describe("drift is none", () => {
  test.each<[string, object, FoundInput]>([
    ["for equal settings", {}, {}],
    ["for the same image in full", { image: "nginx" }, { image: "docker.io/library/nginx:latest" }],
    [
      "for an image by digest",
      { image: `nginx@sha256:${"a".repeat(64)}` },
      { image: `nginx@sha256:${"a".repeat(64)}` },
    ],
    [
      "for an image that compose built and named",
      { image: undefined, build: "." },
      { image: "shop-web", imageFacts: foundImage("shop-web:latest", { digests: [] }) },
    ],
    ["for variables of the image", { environment: { A: "1" } }, { environment: { A: "1" } }],
    ["for a port without an address", { ports: ["8080:80"] }, { ports: [port({ address: "0.0.0.0", port: 8080 })] }],
    ["for a port of IPv6", { ports: ["[::1]:8080:80"] }, { ports: [port({ address: "::1", port: 8080 })] }],
    ["for a port that the engine chooses", { ports: ["80"] }, { ports: [port({ address: "", port: null })] }],
    ["for a port out of several", { ports: ["8000-8010:80"] }, { ports: [port({ address: "", port: null })] }],
    [
      "for a range of ports",
      { ports: ["8080-8081:80-81"] },
      { ports: [port({ address: "", port: 8080 }), port({ address: "", port: 8081 }, 81)] },
    ],
    ["for ports that are only declared", {}, { ports: [port(null), port(null, 443)] }],
    ["for a volume of the project", { volumes: ["data:/data"] }, { mounts: [mount("volume", "shop_data")] }],
    ["for a path", { volumes: ["./x:/data:ro"] }, { mounts: [mount("bind", "/srv/shop/x", { readOnly: true })] }],
    ["for memory", { tmpfs: ["/data:size=1m"] }, { mounts: [mount("tmpfs", "")] }],
    [
      "for an anonymous volume",
      { volumes: ["/data"] },
      { mounts: [mount("volume", "f".repeat(64), { anonymous: true })] },
    ],
    [
      "for a volume that the image brings along",
      {},
      {
        imageFacts: foundImage("nginx:1.27", { volumes: ["/data"] }),
        mounts: [mount("volume", "f".repeat(64), { anonymous: true })],
      },
    ],
    [
      "for mounted secrets",
      { secrets: ["s"] },
      { mounts: [mount("bind", "/srv/shop/s", { target: "/run/secrets/s" })] },
    ],
    ["for a restart policy that is not stated", {}, { restart: "no" }],
    ["for the restart policy no", { restart: "no" }, { restart: "no" }],
    ["for the command of the image", {}, { command: ["serve"] }],
    ["for a command as text", { command: "a 'b c'" }, { command: ["a", "b c"] }],
    ["for an entrypoint, which clears the command", { entrypoint: ["/e"] }, { entrypoint: ["/e"], command: [] }],
    ["for values with dollars", { environment: { A: "5$$" } }, { environment: { A: "5$" } }],
    ["for an image that is gone", { command: ["x"] }, { imageFacts: null, command: ["y"] }],
  ])("%s", async (_, declared, container) => {
    expect(await drift(declared, container)).toEqual([]);
  });
});

describe("drift tells", () => {
  test.each<[string, object, FoundInput]>([
    ["image: nginx:1.27 runs, the compose files say nginx:1.28", { image: "nginx:1.28" }, {}],
    [
      "image: nginx:1.27 is another image on the server now than the one that runs",
      {},
      { imageFacts: foundImage("nginx:1.27", { tags: [] }) },
    ],
    ['command: ["serve"] runs, the compose files say otherwise', { command: ["other"] }, {}],
    ["entrypoint: nothing runs, the compose files say otherwise", { entrypoint: ["/e"] }, { command: [] }],
    ["environment: not set in the container: A, B", { environment: { B: "1", A: "1" } }, {}],
    ["environment: other values in the container: A", { environment: { A: "1" } }, { environment: { A: "2" } }],
    ["environment: set in the container only: B", {}, { environment: { B: "2" } }],
    ["ports: published by the container only: 8080:80/tcp", {}, { ports: [port({ address: "", port: 8080 })] }],
    ["ports: not published by the container: 127.0.0.1:53:53/udp", { ports: ["127.0.0.1:53:53/udp"] }, {}],
    ["volumes: mounted in the container only, at: /data", {}, { mounts: [mount("bind", "/x")] }],
    ["volumes: 1 of the compose files are not mounted in the container", { volumes: ["data:/data"] }, {}],
    ["restart: no in the container, the compose files say always", { restart: "always" }, {}],
    ["containers: there are 1, the compose files say 3", { deploy: { replicas: 3 } }, {}],
  ])("%s", async (sentence, declared, container) => {
    expect(await drift(declared, container)).toEqual([sentence]);
  });

  test("a volume that became read-only, from both sides", async () => {
    const mounts = [mount("volume", "shop_data", { readOnly: true })];
    expect(await drift({ volumes: ["data:/data"] }, { mounts })).toEqual([
      "volumes: mounted in the container only, at: /data",
      "volumes: 1 of the compose files are not mounted in the container",
    ]);
  });

  test("no values of variables and no secrets of commands", async () => {
    const environment = { PASSWORD: "canary-1", NEW: "canary-2" };
    const found = { environment, command: ["serve", "--password", "canary-3", "http://u:canary-4@x/"] };
    const text = (
      await drift({ environment: { PASSWORD: "canary-5" }, command: "serve --password=canary-6" }, found)
    ).join();
    expect(text).toContain("PASSWORD");
    expect(text).not.toContain("canary");
  });
});

describe("services", () => {
  test("that are declared but do not run are listed, except those of profiles", async () => {
    const text = "services: {web: {image: 'nginx:1.27'}, db: {image: pg}, debug: {image: sh, profiles: [debug]}}";
    expect(await driftOnServer([foundIn("shop", "web")], { "/srv/shop/compose.yml": text })).toEqual({
      db: ["it has no container, although the compose files declare it"],
      web: [],
    });
  });

  test("that run but are not declared are said to be so, if the files were read", async () => {
    const containers = [foundIn("shop", "web"), foundIn("shop", "old")];
    const text = "services: {web: {image: 'nginx:1.27'}}";
    expect(await driftOnServer(containers, { "/srv/shop/compose.yml": text })).toEqual({
      old: ["it runs, but the compose files do not declare it"],
      web: [],
    });
    expect(await driftOnServer(containers, {})).toEqual({ old: [], web: [] });
  });
});
