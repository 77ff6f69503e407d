import { describe, expect, test } from "bun:test";
import type { FoundMount } from "../../../domain/migration/inventory.ts";
import { stackOf } from "../../../domain/migration/stack_of.ts";
import { found, foundImage, foundIn, type FoundInput, inventoryOf } from "../../support/inputs/found.ts";

function warningsFor(...containers: readonly FoundInput[]): readonly string[] {
  return stackOf(inventoryOf(containers.map(found)), new Map()).warnings;
}

function mount(type: FoundMount["type"], source: string, anonymous = false): FoundMount {
  return { type, source, target: "/data", readOnly: false, anonymous };
}

describe("warnings", () => {
  test("are none for an ordinary container", () => {
    expect(warningsFor({ networks: [{ name: "bridge", aliases: [], addresses: [] }] })).toEqual([]);
  });

  test.each<[string, FoundInput]>([
    ["web has stopped. Adopting does not start it", { state: "exited", exitCode: 1 }],
    ["web has stopped. Adopting does not start it", { state: "exited", restart: "always" }],
    ["web was never started. Adopting does not start it", { state: "created" }],
    ["web ran to its end. It becomes a one-shot service", { state: "exited" }],
    ["web ran to its end. It becomes a one-shot service", { state: "exited", restart: "on-failure:3" }],
    ["Coolify manages it", { labels: { "coolify.managed": "true" } }],
    [
      "it was started with --rm, so the engine removes it, and its unnamed volumes, as soon as it stops",
      { removedAtEnd: true },
    ],
    ["its image is gone from the server", { imageFacts: null }],
    [
      "its image app:1 exists on this server only",
      { image: "app:1", imageFacts: foundImage("app:1", { digests: [] }) },
    ],
    ["uses the network of the server itself", { networkMode: "host" }],
    ["shares the network of another container", { networkMode: "container:abc" }],
    ["fixed addresses (10.0.0.9)", { networks: [{ name: "a", aliases: [], addresses: ["10.0.0.9"] }] }],
    [
      "several networks (a, b)",
      { networks: ["bridge", "a", "b"].map((name) => ({ name, aliases: [], addresses: [] })) },
    ],
    ["a volume without a name, at /data", { mounts: [mount("volume", "f".repeat(64), true)] }],
    ["control over the server", { mounts: [mount("bind", "/var/run/docker.sock")] }],
    ["control over the server", { mounts: [mount("bind", "/run/user/1000/podman/podman.sock")] }],
    ["mounts of an unusual kind, at /data", { mounts: [mount("other", "x")] }],
    [
      "may do more than an ordinary container (privileged, capabilities)",
      { privileges: ["privileged", "capabilities"] },
    ],
  ])("say: %s", (part, container) => {
    const warnings = warningsFor(container);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toStartWith("web: ");
    expect(warnings[0]).toContain(part);
  });

  test("name an image without a name by nothing but its id", () => {
    const image = `sha256:${"a".repeat(64)}`;
    const facts = foundImage("x", { digests: [], tags: [] });
    expect(warningsFor({ image, imageFacts: facts })[0]).toContain("its image exists on this server only");
  });

  test("explain that a scaled service becomes several", () => {
    const containers = [1, 2].map((number) =>
      foundIn("shop", "web", {
        name: `shop-web-${number}`,
        labels: { "com.docker.compose.container-number": `${number}` },
      }),
    );
    const { warnings } = stackOf(inventoryOf(containers), new Map());
    expect(warnings).toEqual(["shop/web: it runs 2 times. Each container becomes a service of its own"]);
  });

  test("tell finished jobs from stopped services among the containers of a service", () => {
    const containers = [0, 1, 0].map((exitCode, index) => {
      const number = `${index + 1}`;
      const labels = { "com.docker.compose.container-number": number };
      return foundIn("shop", "job", { name: `shop-job-${number}`, state: "exited", exitCode, labels });
    });
    expect(stackOf(inventoryOf(containers), new Map()).warnings).toEqual([
      "shop/job: it runs 3 times. Each container becomes a service of its own",
      "shop/job: shop-job-2 has stopped. Adopting does not start it, the first deployment does",
      "shop/job: shop-job-1 ran to its end, shop-job-3 ran to its end. It becomes a one-shot service, which the first deployment leaves alone. Set its oneShot to false if it should run",
    ]);
  });

  test("list containers that the engine could not describe", () => {
    const unread = [{ name: "broken", reason: "no such layer" }];
    const { warnings } = stackOf(inventoryOf([], { unread }), new Map());
    expect(warnings).toEqual(["Left out broken: the engine could not describe it (no such layer)"]);
  });
});
