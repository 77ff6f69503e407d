import { describe, expect, test } from "bun:test";
import { openRecipe, recipeTargets } from "../../../adapters/docker/containers/adopted_recipe.ts";
import type { ContainerSetting } from "../../../adapters/docker/containers/container_request.ts";
import { recipeRequest } from "../../../adapters/docker/containers/recipe_request.ts";
import { Secret } from "../../../domain/secret.ts";
import {
  type ContainerSpec,
  PLAIN_CONTAINER,
  RECIPE_PARTS,
  type RecipePart,
} from "../../../domain/services/service_spec.ts";
import type { RunnableImage, RunRequest } from "../../../ports/services/runtime.ts";

const CONFIG = {
  Cmd: ["serve"],
  Entrypoint: ["run"],
  Healthcheck: { Test: ["CMD", "true"] },
  ExposedPorts: { "80/tcp": {} },
  Volumes: { "/data": {} },
  User: "app",
  Labels: { team: "shop" },
};
const HOST_CONFIG = {
  PortBindings: { "80/tcp": [{ HostIp: "", HostPort: "8080" }] },
  PublishAllPorts: true,
  Memory: 1_000,
  MemorySwap: 2_000,
  NanoCpus: 3_000,
  CpuQuota: 4_000,
  CpuPeriod: 5_000,
  RestartPolicy: { Name: "on-failure", MaximumRetryCount: 3 },
  Binds: ["named:/data", "/srv/files:/files:ro"],
  Mounts: [{ Type: "volume", Source: "other", Target: "/other" }],
  Tmpfs: { "/tmp": "" },
  VolumesFrom: ["box"],
  CapAdd: ["NET_ADMIN"],
  NetworkMode: "shop_back",
  AutoRemove: true,
};
const ENDPOINTS = { shop_back: { Aliases: ["db"] }, bridge: {} };
const NETWORKS = { shop_back: { Driver: "bridge", Internal: true } };

/** The fields of the engine's request that each part of a definition covers. */
const COVERED: { readonly [Part in RecipePart]: readonly string[] } = {
  command: ["Cmd"],
  entrypoint: ["Entrypoint"],
  healthcheck: ["Healthcheck"],
  ports: ["ExposedPorts", "PortBindings", "PublishAllPorts"],
  resources: ["Memory", "MemorySwap", "NanoCpus", "CpuQuota", "CpuPeriod"],
  restart: ["RestartPolicy"],
  volumes: ["Volumes", "Binds", "Mounts", "Tmpfs", "VolumesFrom"],
};

function opened(without: readonly RecipePart[] = [], hostConfig: object = HOST_CONFIG) {
  const text = JSON.stringify({ config: CONFIG, hostConfig, endpoints: ENDPOINTS, networks: NETWORKS });
  return openRecipe({ text, without });
}

const SETTING: ContainerSetting = {
  labels: { "slipway.project": "prj_1" },
  network: "network-of-the-project",
  ports: [{ inside: 80, port: 40_000 }],
  init: true,
  mounts: [{ Type: "volume", Source: "slipway-volume", Target: "/more" }],
  image: {} as ContainerSetting["image"],
};

interface Requested {
  readonly own?: Partial<ContainerSpec>;
  readonly setting?: Partial<ContainerSetting>;
  readonly oneShot?: boolean;
}

/** The engine's request of an adopted service with these settings of its own. */
function requested(recipe: ReturnType<typeof openRecipe>, { own = {}, setting = {}, oneShot = false }: Requested = {}) {
  const request: RunRequest<RunnableImage> = {
    instanceId: "instance",
    deploymentId: "dep_1",
    projectId: "prj_1",
    service: "web",
    scope: "prj_1",
    oneShot,
    environment: new Map([["COLOR", new Secret("blue")]]),
    runs: { kind: "image", image: "sha256:1", command: null, ports: [80], container: { ...PLAIN_CONTAINER, ...own } },
  };
  // Requests have fields of every kind.
  // oxlint-disable-next-line typescript/no-explicit-any
  return recipeRequest(request, { ...SETTING, ...setting }, recipe) as any;
}

describe("openRecipe()", () => {
  test("keeps everything but the network of the container, which is another one, and its removal at its end", () => {
    const { NetworkMode: _, AutoRemove: __, ...hostConfig } = HOST_CONFIG;
    expect(opened()).toEqual({
      config: CONFIG,
      hostConfig,
      endpoints: { shop_back: { Aliases: ["db"] } },
      networks: NETWORKS,
      sharesNetwork: false,
    });
  });

  test.each(RECIPE_PARTS)("leaves exactly the fields of %s out", (part) => {
    const [whole, rest] = [opened(), opened([part])];
    const names = (recipe: typeof whole) => [...Object.keys(recipe.config), ...Object.keys(recipe.hostConfig)];
    expect(new Set(names(whole)).difference(new Set(names(rest)))).toEqual(new Set(COVERED[part]));
    expect({ ...rest, config: null, hostConfig: null }).toEqual({ ...whole, config: null, hostConfig: null });
  });

  test.each(["host", "none", "container:0123"])("of a container in the network %s joins none of its own", (mode) => {
    const recipe = opened([], { ...HOST_CONFIG, NetworkMode: mode });
    expect(recipe).toMatchObject({ sharesNetwork: true, endpoints: {}, hostConfig: { NetworkMode: mode } });
  });

  test.each(["{}", '{"config":{}}'])("reads %s, which says nothing", (text) => {
    const nothing = { config: {}, hostConfig: {}, endpoints: {}, networks: {}, sharesNetwork: false };
    expect(openRecipe({ text, without: [] })).toEqual(nothing);
  });
});

describe("recipeTargets()", () => {
  test("names every path that a recipe mounts something at", () => {
    expect(recipeTargets(opened())).toEqual(["/data", "/files", "/other", "/tmp"]);
    expect(recipeTargets(opened(["volumes"]))).toEqual([]);
  });
});

describe("recipeRequest()", () => {
  test("is the recipe with our image, variables, labels, network, volumes, and the port of the edge", () => {
    const request = requested(opened());
    expect(request).toEqual({
      ...CONFIG,
      Image: "sha256:1",
      Env: ["COLOR=blue"],
      Labels: { team: "shop", "slipway.project": "prj_1", "slipway.as-found": "true" },
      HostConfig: {
        ...opened().hostConfig,
        NetworkMode: "network-of-the-project",
        PortBindings: {
          "80/tcp": [
            { HostIp: "", HostPort: "8080" },
            { HostIp: "127.0.0.1", HostPort: "40000" },
          ],
        },
        Mounts: [...HOST_CONFIG.Mounts, ...SETTING.mounts],
      },
      NetworkingConfig: request.NetworkingConfig,
    });
    expect(Object.keys(request.NetworkingConfig.EndpointsConfig)).toEqual(["network-of-the-project"]);
  });

  test("of a container that shares a network publishes nothing and joins nothing", () => {
    const request = requested(opened([], { NetworkMode: "host" }), { setting: { ports: [] } });
    expect(request.HostConfig.NetworkMode).toBe("host");
    expect(request).not.toHaveProperty("NetworkingConfig");
    expect(request.HostConfig).not.toHaveProperty("PortBindings");
  });

  test.each([
    ["command", { command: ["other"] }, { Cmd: ["other"], Entrypoint: ["run"] }],
    ["entrypoint", { entrypoint: ["other"] }, { Entrypoint: ["other"], Cmd: ["serve"] }],
    ["entrypoint", { entrypoint: [] }, { Entrypoint: [""], Cmd: ["serve"] }],
    ["healthcheck", { healthcheck: "none" }, { Healthcheck: { Test: ["NONE"] } }],
  ] as const)("takes a changed %s %o from the service", (part, own, expected) => {
    expect(requested(opened([part]), { own })).toMatchObject(expected);
  });

  test.each(["command", "entrypoint", "healthcheck"] as const)("leaves a removed %s to the image", (part) => {
    expect(requested(opened([part]))).not.toHaveProperty(COVERED[part][0]!);
  });

  test("takes changed limits from the service, and none where it has none any more", () => {
    const limits = { ...PLAIN_CONTAINER.limits, memoryBytes: 64_000_000 };
    const { HostConfig } = requested(opened(["resources"]), { own: { limits } });
    expect(HostConfig).toMatchObject({ Memory: 64_000_000, MemorySwap: 64_000_000 });
    expect(HostConfig).not.toHaveProperty("NanoCpus");
    expect(requested(opened(["resources"])).HostConfig).not.toHaveProperty("Memory");
  });

  test("publishes only the ports of the edge once the ports were changed", () => {
    const request = requested(opened(["ports"]));
    expect(request.ExposedPorts).toEqual({ "80/tcp": {} });
    expect(request.HostConfig.PortBindings).toEqual({ "80/tcp": [{ HostIp: "127.0.0.1", HostPort: "40000" }] });
  });

  test("restarts like every other service once the policy was changed", () => {
    expect(requested(opened(["restart"])).HostConfig.RestartPolicy).toEqual({ Name: "unless-stopped" });
  });

  test("never restarts a one-shot service, whatever its recipe says", () => {
    expect(opened().hostConfig["RestartPolicy"]).toMatchObject({ Name: "on-failure" });
    expect(requested(opened(), { oneShot: true }).HostConfig.RestartPolicy).toEqual({ Name: "no" });
    expect(requested(opened(["restart"]), { oneShot: true }).HostConfig.RestartPolicy).toEqual({ Name: "no" });
  });

  test("mounts only the volumes of the service once they were changed", () => {
    const { HostConfig } = requested(opened(["volumes"]));
    expect(HostConfig.Mounts).toEqual(SETTING.mounts);
    expect(HostConfig).not.toHaveProperty("Binds");
  });
});
