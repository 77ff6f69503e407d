import { describe, expect, test } from "bun:test";
import { checkHostAccess, type HostRules } from "../../domain/services/host_access.ts";
import { PLAIN_CONTAINER, type ServiceMount } from "../../domain/services/service_spec.ts";

const RULES: HostRules = {
  mode: "self-hosted",
  hostPaths: ["/srv/shop/", "old_volume"],
  roots: ["/opt/apps"],
  dataFolder: "/var/lib/slipway",
};

function check(mount: ServiceMount, rules: Partial<HostRules> = {}): void {
  const services = [
    { name: "plain", container: PLAIN_CONTAINER },
    { name: "web", container: { ...PLAIN_CONTAINER, mounts: [mount] } },
  ];
  checkHostAccess(services, { ...RULES, ...rules });
}

function host(path: string): ServiceMount {
  return { kind: "host", path, target: "/x", readOnly: true };
}

function volume(name: string | null, external: boolean): ServiceMount {
  return { kind: "volume", name, external, target: "/x", readOnly: false };
}

describe("checkHostAccess()", () => {
  test.each(["/srv/shop", "/srv/shop/", "/srv/shop/files", "/srv/shop/a/../b", "/opt/apps", "/opt/apps/one"])(
    "allows %j",
    (path) => {
      expect(check(host(path))).toBeUndefined();
    },
  );

  test.each([
    "/srv",
    "/srv/shops",
    "/srv/shop/../other",
    "/srv/shop/../../etc",
    "/opt",
    "/opt/apps/../x",
    "/etc",
    "/",
    "/old_volume",
  ])("refuses %j, naming the service, the path and what to do", (path) => {
    expect(() => check(host(path))).toThrow(
      expect.objectContaining({
        kind: "forbidden",
        code: "host_access_forbidden",
        message: expect.stringContaining(`"web" the path "${path}"`),
      }),
    );
  });

  test("lets a service write where an admin allows it, not where every project may only read", () => {
    expect(check({ kind: "host", path: "/srv/shop", target: "/x", readOnly: false })).toBeUndefined();
    for (const path of ["/opt/apps", "/opt/apps/one"])
      expect(() => check({ kind: "host", path, target: "/x", readOnly: false })).toThrow("Mount it with :ro");
  });

  test("says how it can be allowed", () => {
    expect(() => check(host("/etc"))).toThrow("an admin can allow it by adding it to hostPaths of the project");
  });

  test.each(["/var/lib/slipway", "/var/lib/slipway/releases", "/var/lib", "/var/lib/x/../slipway", "/"])(
    "refuses access to its own data by %j",
    (path) => {
      expect(() => check(host(path), { hostPaths: ["/", path], roots: ["/"] })).toThrow("own data");
    },
  );

  test.each(["/var/run/docker.sock", "/run/docker.sock", "/run", "/var/run/", "/run/containerd"])(
    "allows the engine's socket at %j only when exactly this path is allowed",
    (path) => {
      expect(() => check(host(path), { hostPaths: ["/"], roots: ["/", path] })).toThrow("socket");
      expect(check(host(path), { hostPaths: [path] })).toBeUndefined();
    },
  );

  test("allows volumes of the project, and others only by name", () => {
    expect(check(volume("data", false))).toBeUndefined();
    expect(check(volume(null, false))).toBeUndefined();
    expect(check(volume("old_volume", true))).toBeUndefined();
    expect(() => check(volume("other_volume", true))).toThrow('"web" the volume "other_volume"');
    expect(() => check(volume(null, true))).toThrow("hostPaths");
  });

  test("allows nothing of the machine in cloud mode", () => {
    for (const mount of [host("/srv/shop"), host("/opt/apps"), volume("old_volume", true)])
      expect(() => check(mount, { mode: "cloud" })).toThrow("cloud mode");
    expect(check(volume("data", false), { mode: "cloud" })).toBeUndefined();
  });

  test("ignores files of the source and memory mounts", () => {
    expect(check({ kind: "source", path: "x", target: "/x", readOnly: true }, { mode: "cloud" })).toBeUndefined();
    expect(check({ kind: "memory", target: "/x", bytes: null }, { mode: "cloud" })).toBeUndefined();
  });
});
