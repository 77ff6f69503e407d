import { describe, expect, test } from "bun:test";
import { foundIn } from "../../support/inputs/found.ts";
import { filesOnServer, type ServerFiles } from "../../support/inputs/compose_on_server.ts";

const FILES = "com.docker.compose.project.config_files";
const MAIN = "/srv/shop/compose.yml";

/** What the files declare of a service. */
async function declared(files: ServerFiles | string, service = "web", labels: Record<string, string> = {}) {
  const given = typeof files === "string" ? { [MAIN]: files } : files;
  const { services, warnings } = await filesOnServer([foundIn("shop", service, { labels })], given);
  expect(warnings).toEqual([]);
  return services.get(service)!;
}

async function warned(files: ServerFiles, labels: Record<string, string> = {}) {
  const { services, warnings, isComplete } = await filesOnServer([foundIn("shop", "web", { labels })], files);
  expect([services.size, isComplete]).toEqual([0, false]);
  return warnings;
}

describe("what compose files of a server declare", () => {
  test("is read with absolute paths and the engine's names of volumes", async () => {
    const service = await declared(`
services:
  web:
    image: nginx:1.27
    command: serve "two words" $$HOME
    entrypoint: ["/entry", "-x"]
    ports: ["8080:80", {target: 53, published: "5353", protocol: udp, host_ip: 127.0.0.1}]
    volumes: [./html/:/usr/share/html/:ro, /etc/hosts:/hosts, data:/data, shared:/shared, named:/named, /anonymous]
    tmpfs: /run:size=64m
    restart: unless-stopped
    depends_on: {db: {condition: service_healthy}}
    deploy: {replicas: 3}
  db: {image: postgres}
volumes: {data: {}, shared: {external: true}, named: {name: other}}`);
    expect(service).toMatchObject({
      image: "nginx:1.27",
      build: null,
      command: ["serve", "two words", "$HOME"],
      entrypoint: ["/entry", "-x"],
      restart: "unless-stopped",
      dependsOn: ["db"],
      replicas: 3,
      hasFiles: false,
      profiles: [],
    });
    expect(service.mounts).toEqual([
      { type: "bind", source: "/srv/shop/html", target: "/usr/share/html", readOnly: true },
      { type: "bind", source: "/etc/hosts", target: "/hosts", readOnly: false },
      { type: "volume", source: "shop_data", target: "/data", readOnly: false },
      { type: "volume", source: "shared", target: "/shared", readOnly: false },
      { type: "volume", source: "other", target: "/named", readOnly: false },
      { type: "volume", source: null, target: "/anonymous", readOnly: false },
      { type: "tmpfs", source: "", target: "/run", readOnly: false },
    ]);
    expect(service.ports).toEqual([
      { ports: [80], protocol: "tcp", published: "8080", address: null },
      { ports: [53], protocol: "udp", published: "5353", address: "127.0.0.1" },
    ]);
  });

  test("is merged from several files, in their order", async () => {
    const labels = { [FILES]: "compose.yml,/etc/shop/prod.yml" };
    const files = {
      [MAIN]: "services: {web: {image: 'nginx:1', environment: {A: one, B: one}}}",
      "/etc/shop/prod.yml": "services: {web: {image: 'nginx:2', environment: {B: two}}}",
    };
    expect(await declared(files, "web", labels)).toMatchObject({
      image: "nginx:2",
      environment: { A: "one", B: "two" },
    });
  });

  test("includes and extends other files, also absolute ones", async () => {
    const files = {
      [MAIN]: `
include: [../base/compose.yml]
services: {web: {extends: {file: /etc/shop/common.yml, service: common}, environment: {C: "3"}}}`,
      "/srv/base/compose.yml": "services: {db: {image: postgres, volumes: ['./data:/data']}}",
      "/etc/shop/common.yml": "services: {common: {image: nginx, env_file: ./common.env, environment: {A: '1'}}}",
      "/etc/shop/common.env": "B=2\n",
    };
    expect(await declared(files)).toMatchObject({ image: "nginx", environment: { A: "1", B: "2", C: "3" } });
    expect((await declared(files, "db")).mounts).toMatchObject([{ source: "/srv/base/data" }]);
  });

  test("interpolates variables of .env, and of the files that were named instead", async () => {
    const main = "services: {web: {image: 'nginx:${TAG:-none}', environment: {PRICE: '5$$', A: '$TAG'}}}";
    const files = { [MAIN]: main, "/srv/shop/.env": "TAG=1.27\n", "/srv/shop/prod.env": "TAG=2\n" };
    expect(await declared(files)).toMatchObject({ image: "nginx:1.27", environment: { PRICE: "5$", A: "1.27" } });
    const labels = { "com.docker.compose.project.environment_file": "/srv/shop/prod.env" };
    expect(await declared(files, "web", labels)).toMatchObject({ image: "nginx:2" });
    expect(await declared({ [MAIN]: main })).toMatchObject({ image: "nginx:none" });
  });

  test("knows the folder of a build", async () => {
    expect(await declared("services: {web: {build: .}}")).toMatchObject({ build: "/srv/shop", image: null });
    expect(await declared("services: {web: {build: {context: ../app}}}")).toMatchObject({ build: "/srv/app" });
  });

  test("accepts what Slipway itself does not run", async () => {
    const service = await declared(
      "services: {web: {image: nginx, privileged: true, network_mode: host, cap_add: [ALL], pid: host, secrets: [x]}}\nsecrets: {x: {file: ./x}}",
    );
    expect(service).toMatchObject({ image: "nginx", hasFiles: true });
  });

  test("says nothing about mounts or ports that it cannot read", async () => {
    expect(await declared("services: {web: {image: nginx, volumes: ['~/x:/x', 'y:/y']}}")).toMatchObject({
      mounts: null,
    });
    expect(await declared("services: {web: {image: nginx, ports: ['a:b']}}")).toMatchObject({ ports: null });
  });
});

describe("compose files that cannot be compared", () => {
  test.each([
    ["absent", "it is gone"],
    ["forbidden", "the SSH user may not read it"],
    ["no_file", "it is not a file"],
    ["too_large", "it is larger than 512 KiB"],
  ] as const)("are a warning: %s", async (why, sentence) => {
    const warnings = await warned({ [MAIN]: { why } });
    expect(warnings).toEqual([`shop: cannot compare it with ${MAIN}: ${sentence}`]);
  });

  test("are a warning if one of several is missing", async () => {
    const warnings = await warned({ [MAIN]: "services: {web: {image: nginx}}" }, { [FILES]: `${MAIN},/srv/b.yml` });
    expect(warnings).toEqual(["shop: cannot compare it with /srv/b.yml: it is gone"]);
  });

  test("are a warning if their variables cannot be read", async () => {
    const files = { [MAIN]: "services: {web: {image: 'nginx:$TAG'}}", "/srv/shop/.env": { why: "forbidden" as const } };
    expect(await warned(files)).toEqual(["shop: cannot compare it with /srv/shop/.env: the SSH user may not read it"]);
  });

  test("are a warning if no label names them", async () => {
    expect(await warned({}, { [FILES]: "" })).toEqual([
      "shop: cannot compare it with its compose files: it does not say where they are",
    ]);
  });

  test.each([
    ["broken YAML", "services: {web: [", MAIN],
    ["no mapping", "- a\n- b", MAIN],
    ["a missing include", "include: [other.yml]\nservices: {}", "other.yml"],
    ["a missing env_file", "services: {web: {image: nginx, env_file: missing.env}}", "missing.env"],
    ["a required variable", "services: {web: {image: 'nginx:${TAG:?needed}'}}", "TAG"],
  ])("are a warning with the place: %s", async (_, text, part) => {
    const warnings = await warned({ [MAIN]: text });
    expect(warnings.join("\n")).toContain(part);
    for (const warning of warnings) expect(warning).toMatch(/^shop: \/srv\/.*:\d+: /);
  });

  test("quote no values", async () => {
    const warnings = await warned({
      [MAIN]: "services:\n  web:\n    environment:\n      - PASSWORD=hunter2\n     bad: [hunter2",
    });
    expect(warnings.join()).not.toContain("hunter2");
  });

  test("are a warning if they refer to too many others", async () => {
    const names = Array.from({ length: 60 }, (_, index) => `/srv/shop/${index}.yml`);
    const files = Object.fromEntries(names.map((name) => [name, "services: {}"]));
    const main = `include: ${JSON.stringify(names)}\nservices: {web: {image: nginx}}`;
    const warnings = await warned({ ...files, [MAIN]: main });
    expect(warnings).toEqual([expect.stringContaining("they refer to more than 50 files")]);
  });

  test("are a warning if they include themselves, or grow without end", async () => {
    expect(await warned({ [MAIN]: "include: [compose.yml]\nservices: {web: {image: nginx}}" })).not.toEqual([]);
    const bomb = Array.from({ length: 30 }, (_, n) => `x${n + 1}: &x${n + 1} [*x${n}, *x${n}, *x${n}]`).join("\n");
    expect(await warned({ [MAIN]: `x0: &x0 [a]\n${bomb}\nservices: {web: {image: nginx}}` })).not.toEqual([]);
  });
});
