import { describe, expect, test } from "bun:test";
import { anything, assert, dictionary, constantFrom, property } from "fast-check";
import { containerRecipe } from "../../../adapters/docker/inventory/container_recipe.ts";
import { foundContainer } from "../../../adapters/docker/inventory/found_container.ts";
import {
  changed,
  CONTAINER_ID,
  INSPECTED,
  INSPECTED_IMAGE,
  type Json,
  VOLUME_ID,
} from "../../support/inputs/inspected.ts";

const IMAGE_CONFIG = INSPECTED_IMAGE["Config"] as Json;

function found(path: readonly string[] = [], fields: Json = {}) {
  return foundContainer(changed(INSPECTED, path, fields), INSPECTED_IMAGE);
}

function recipe(path: readonly string[] = [], fields: Json = {}) {
  return containerRecipe(changed(INSPECTED, path, fields), IMAGE_CONFIG);
}

function keysOf(Env: readonly string[]) {
  return [...found(["Config"], { Env, Hostname: "abc" }).environment.keys()];
}

describe("foundContainer()", () => {
  test("reads what Docker reports", () => {
    const { environment, imageFacts, recipe: written, ...rest } = found();
    expect(rest).toEqual({
      id: CONTAINER_ID,
      name: "shop_web_1",
      state: "running",
      exitCode: 0,
      startedAt: "2026-05-01T00:00:01.000000000Z",
      restarts: 2,
      image: "nginx:1.27",
      imageId: `sha256:${"ab".repeat(32)}`,
      entrypoint: ["/docker-entrypoint.sh"],
      command: ["nginx", "-g", "daemon off;"],
      labels: { maintainer: "NGINX", "com.docker.compose.project": "shop", "com.docker.compose.service": "web" },
      ports: [
        { port: 80, protocol: "tcp", published: { address: "", port: 8080 } },
        { port: 443, protocol: "tcp", published: null },
      ],
      mounts: [
        { type: "bind", source: "/etc/shop", target: "/conf", readOnly: true, anonymous: false },
        { type: "volume", source: "shop_data", target: "/data", readOnly: false, anonymous: false },
        { type: "tmpfs", source: "", target: "/run", readOnly: false, anonymous: false },
        { type: "volume", source: VOLUME_ID, target: "/var/cache/nginx", readOnly: false, anonymous: true },
      ],
      networks: [{ name: "shop_default", aliases: ["web", "shop_web_1"], addresses: ["172.20.0.9"] }],
      networkMode: "shop_default",
      restart: "on-failure:3",
      healthcheck: { test: ["CMD", "true"], intervalMs: null, timeoutMs: null, startPeriodMs: null, retries: null },
      limits: { memoryBytes: 134_217_728, cpus: 1.5 },
      removedAtEnd: false,
      privileges: ["capabilities"],
    });
    expect([...environment].map(([key, value]) => [key, value.reveal()])).toEqual([
      ["PASSWORD", "hunter2=x"],
      ["EMPTY", ""],
      ["PATH", "/usr/sbin:/usr/bin"],
      ["NGINX_VERSION", "1.27.0"],
    ]);
    expect(imageFacts).toMatchObject({ tags: ["nginx:1.27"], hasHealthcheck: true, volumes: ["/var/cache/nginx"] });
    expect(JSON.parse(written.reveal())).toEqual(recipe() as never);
  });

  test("reads what Podman reports, with nulls and other words", () => {
    const state = { Status: "stopped", ExitCode: 137, StartedAt: "0001-01-01T00:00:00Z" };
    const podman = changed(changed(INSPECTED, ["Config"], { Entrypoint: "/entry", Cmd: null, Labels: null }), [], {
      State: state,
      Name: "shop_web_1",
      Mounts: null,
      NetworkSettings: { Networks: null },
      HostConfig: {
        RestartPolicy: { Name: "", MaximumRetryCount: 0 },
        PortBindings: null,
        Tmpfs: null,
        CpuQuota: 50_000,
      },
    });
    expect(foundContainer(podman, undefined)).toMatchObject({
      name: "shop_web_1",
      state: "exited",
      exitCode: 137,
      entrypoint: ["/entry"],
      command: [],
      labels: {},
      mounts: [],
      networks: [],
      networkMode: "",
      restart: "no",
      imageFacts: null,
      limits: { memoryBytes: null, cpus: 0.5 },
      ports: [
        { port: 80, published: null },
        { port: 443, published: null },
      ],
    });
  });

  test("leaves out the variables that Podman adds to every container, and no others", () => {
    expect(keysOf(["container=podman", "HOSTNAME=abc", "HOME=/data", "A=b"])).toEqual(["HOME", "A"]);
    expect(keysOf(["container=podman", "HOSTNAME=own"])).toEqual(["HOSTNAME"]);
    expect(keysOf(["container=docker", "HOSTNAME=abc", "constructor=x"])).toEqual([
      "container",
      "HOSTNAME",
      "constructor",
    ]);
  });

  test.each([
    ["configured", "created"],
    ["initialized", "created"],
    ["Running", "running"],
    ["restarting", "restarting"],
    ["stopping", "unknown"],
    [7, "unknown"],
  ])("knows the state %s", (status, state) => {
    expect(found(["State"], { Status: status }).state).toBe(state as never);
  });

  test.each<[Json, readonly string[]]>([
    [{ CapAdd: null, Privileged: true }, ["privileged"]],
    [{ CapAdd: [], Devices: [{}], PidMode: "host" }, ["devices", "the server's pid namespace"]],
    [
      { CapAdd: null, SecurityOpt: ["seccomp=unconfined"], Sysctls: { a: "b" } },
      ["sysctls", "seccomp or AppArmor unconfined"],
    ],
    [{ CapAdd: null, DeviceRequests: [{ Driver: "nvidia" }] }, ["GPUs"]],
  ])("names the privileges of %j", (hostConfig, privileges) => {
    expect(found(["HostConfig"], hostConfig).privileges).toEqual(privileges);
  });

  test("reads several addresses of a port, other protocols, and ports that the engine chose", () => {
    const PortBindings = {
      "53/udp": [
        { HostIp: "127.0.0.1", HostPort: "53" },
        { HostIp: "::1", HostPort: "" },
      ],
      "9/sctp": null,
      nonsense: [{}],
    };
    const { ports } = foundContainer(changed(INSPECTED, [], { HostConfig: { PortBindings }, Config: {} }), undefined);
    expect(ports).toEqual([
      { port: 53, protocol: "udp", published: { address: "127.0.0.1", port: 53 } },
      { port: 53, protocol: "udp", published: { address: "::1", port: null } },
    ]);
  });

  test("never throws, whatever an engine reports", () => {
    const keys = [
      ...Object.keys(INSPECTED),
      ...Object.keys(INSPECTED["Config"] as Json),
      ...Object.keys(INSPECTED["HostConfig"] as Json),
    ];
    const garbage = dictionary(constantFrom(...keys, "Networks", "__proto__"), anything({ withNullPrototype: false }));
    const nested = dictionary(constantFrom("Config", "HostConfig", "State", "NetworkSettings"), garbage);
    assert(
      property(garbage, nested, garbage, (flat, deep, image) => {
        const container = foundContainer({ ...flat, ...deep }, image);
        expect(typeof container.recipe.reveal()).toBe("string");
        expect(foundContainer({ ...deep, ...flat }, { Config: image }).id).toBeString();
      }),
    );
  });
});

describe("containerRecipe()", () => {
  test("has what creates the container again, without image, environment and what the image brings", () => {
    expect(recipe()).toEqual({
      config: {
        ExposedPorts: { "443/tcp": {} },
        Labels: { "com.docker.compose.project": "shop", "com.docker.compose.service": "web" },
      },
      hostConfig: {
        Binds: ["shop_data:/data:rw", "/etc/shop:/conf:ro"],
        LogConfig: { Type: "json-file", Config: {} },
        NetworkMode: "shop_default",
        PortBindings: { "80/tcp": [{ HostIp: "", HostPort: "8080" }] },
        RestartPolicy: { Name: "on-failure", MaximumRetryCount: 3 },
        CapAdd: ["NET_ADMIN"],
        ExtraHosts: ["db.local:10.0.0.9"],
        IpcMode: "private",
        Tmpfs: { "/run": "size=64m" },
        ShmSize: 67_108_864,
        Runtime: "runc",
        Memory: 134_217_728,
        NanoCpus: 1_500_000_000,
        Ulimits: [{ Name: "nofile", Soft: 1024, Hard: 2048 }],
        Mounts: [{ Type: "volume", Source: VOLUME_ID, Target: "/var/cache/nginx" }],
      },
      endpoints: {
        shop_default: { IPAMConfig: { IPv4Address: "172.20.0.9" }, Aliases: ["web", "shop_web_1"] },
      },
      networks: {},
    });
  });

  test("has no value of a variable", () => {
    expect(JSON.stringify(recipe())).not.toContain("hunter2");
  });

  test.each<[string, Json, Json]>([
    ["another command", { Cmd: ["sh"] }, { Cmd: ["sh"] }],
    [
      "another entrypoint with the image's own command, which an entrypoint clears",
      { Entrypoint: ["/other"] },
      { Entrypoint: ["/other"], Cmd: ["nginx", "-g", "daemon off;"] },
    ],
    ["another entrypoint without a command", { Entrypoint: ["/other"], Cmd: null }, { Entrypoint: ["/other"] }],
    ["a removed entrypoint", { Entrypoint: null, Cmd: ["sh"] }, { Entrypoint: [""], Cmd: ["sh"] }],
    ["a host name", { Hostname: "shop" }, { Hostname: "shop" }],
    [
      "a user, a folder and a terminal",
      { User: "1000", WorkingDir: "/w", Tty: true },
      { User: "1000", WorkingDir: "/w", Tty: true },
    ],
    ["a health check that is off", { Healthcheck: { Test: ["NONE"] } }, { Healthcheck: { Test: ["NONE"] } }],
    ["labels that replace the image's", { Labels: { maintainer: "me" } }, { Labels: { maintainer: "me" } }],
  ])("keeps %s", (_, config, kept) => {
    const fresh = { Labels: null, ExposedPorts: null };
    expect(recipe(["Config"], { ...fresh, ...config }).config).toEqual(kept);
  });

  test.each<Json>([{ NetworkMode: `container:${"a".repeat(64)}` }, { UTSMode: "host" }])(
    "leaves out a host name that belongs to somebody else: %j",
    (hostConfig) => {
      const inspected = changed(changed(INSPECTED, ["Config"], { Hostname: "shared" }), ["HostConfig"], hostConfig);
      expect(containerRecipe(inspected, IMAGE_CONFIG).config).not.toHaveProperty("Hostname");
    },
  );

  test("mounts volumes that the engine named by these names, read-only ones too", () => {
    const Mounts = [
      { Type: "volume", Name: VOLUME_ID, Destination: "/anonymous", RW: false },
      { Type: "volume", Name: "named", Destination: "/named", RW: true },
    ];
    const HostConfig = {
      Mounts: [
        { Type: "volume", Target: "/anonymous", ReadOnly: true },
        { Type: "volume", Source: "named", Target: "/named", VolumeOptions: { NoCopy: true } },
        { Type: "tmpfs", Target: "/memory" },
      ],
    };
    expect(recipe([], { Mounts, HostConfig }).hostConfig["Mounts"]).toEqual([
      { Type: "volume", Source: "named", Target: "/named", VolumeOptions: { NoCopy: true } },
      { Type: "tmpfs", Target: "/memory" },
      { Type: "volume", Source: VOLUME_ID, Target: "/anonymous", ReadOnly: true },
    ]);
  });

  test("keeps several networks with their addresses, and nothing that the engine chose", () => {
    const Networks = {
      front: { Aliases: null, IPAddress: "172.18.0.2", MacAddress: "x", Gateway: "172.18.0.1" },
      back: { Aliases: ["db"], IPAMConfig: { IPv6Address: "fd00::9" }, DriverOpts: { a: "b" }, GwPriority: 5 },
    };
    expect(recipe([], { NetworkSettings: { Networks } }).endpoints).toEqual({
      front: { Aliases: ["shop_web_1"] },
      back: {
        Aliases: ["db", "shop_web_1"],
        IPAMConfig: { IPv6Address: "fd00::9" },
        DriverOpts: { a: "b" },
        GwPriority: 5,
      },
    });
  });
});
