import { describe, expect, test } from "bun:test";
import { isSlipways, managedBy } from "../../../domain/migration/panels.ts";
import { found, type FoundInput } from "../../support/inputs/found.ts";

const FOLDER = "com.docker.compose.project.working_dir";

describe("managedBy()", () => {
  test.each<[string, FoundInput]>([
    ["Coolify", { labels: { "coolify.managed": "true" } }],
    ["Coolify", { image: "ghcr.io/coollabsio/sentinel:latest" }],
    ["Coolify", { name: "coolify-proxy", image: "traefik:v3" }],
    ["Coolify", { labels: { [FOLDER]: "/data/coolify/services/abc" } }],
    ["Dokploy", { image: "dokploy/dokploy:latest" }],
    ["Dokploy", { image: "docker.io/dokploy/dokploy:latest" }],
    ["Dokploy", { name: "dokploy-traefik" }],
    ["Dokploy", { labels: { [FOLDER]: "/etc/dokploy/compose/shop/code" } }],
    ["Portainer", { image: "portainer/portainer-ce:2.21" }],
    ["Portainer", { labels: { [FOLDER]: "/data/compose/12" } }],
    ["CapRover", { name: "srv-captain--shop.1.abc" }],
    ["CapRover", { image: "caprover/caprover:1.12" }],
    ["Docker Swarm", { labels: { "com.docker.swarm.task.id": "x" } }],
    ["Kubernetes", { labels: { "io.kubernetes.pod.name": "web-1" } }],
  ])("recognises %s by %j", (panel, container) => {
    expect(managedBy(found(container))).toBe(panel);
  });

  test.each<FoundInput>([
    {},
    { name: "my-coolify" },
    { name: "coolifyish" },
    { image: "example/portainer-like:1" },
    { labels: { "com.docker.compose.project": "coolify.managed", note: "dokploy." } },
    { labels: { [FOLDER]: "/srv/data/compose/12" } },
    { labels: { "my.coolify.label": "x" } },
  ])("leaves %j alone", (container) => {
    expect(managedBy(found(container))).toBeNull();
  });
});

test("isSlipways() recognises containers by their label", () => {
  expect(isSlipways(found({ labels: { "slipway.installation": "" } }))).toBe(true);
  expect(isSlipways(found({ labels: { "slipway.other": "x" }, name: "slipway" }))).toBe(false);
});
