import { describe, expect, test } from "bun:test";
import { containerRecipe, recipeNetworks } from "../../../adapters/docker/inventory/container_recipe.ts";
import { foundContainer } from "../../../adapters/docker/inventory/found_container.ts";

const RANGE = { Driver: "default", Config: [{ Subnet: "10.0.0.0/24" }] };
const FRONT = { Name: "front", Driver: "bridge", Internal: true, IPAM: RANGE, Scope: "local" };
const BACK = { Name: "back", Driver: "bridge", Labels: { team: "shop" }, IPAM: RANGE };

function inspected(networks: Readonly<Record<string, object>>, more: object = {}) {
  return { Id: "1".repeat(64), NetworkSettings: { Networks: networks }, ...more } as never;
}

describe("recipeNetworks()", () => {
  test("keeps the range of a network in which any container has a fixed address, for all of them", () => {
    const fixed = inspected({ front: { IPAMConfig: { IPv4Address: "10.0.0.9" } } });
    const beside = inspected({ front: { IPAMConfig: null }, back: { IPAMConfig: {} } });
    const made = recipeNetworks([FRONT, BACK] as never, [beside, fixed]);
    expect(containerRecipe(beside, {}, made).networks).toEqual({
      front: { Driver: "bridge", Internal: true, IPAM: RANGE },
      back: { Driver: "bridge", Labels: { team: "shop" } },
    });
    expect(Object.keys(containerRecipe(fixed, {}, made).networks)).toEqual(["front"]);
  });
});

describe("containerRecipe()", () => {
  test("keeps zero and false where the engine's default is another value", () => {
    const Config = { StopTimeout: 0, Tty: false };
    const HostConfig = { Init: false, Memory: 0, Privileged: false };
    const { config, hostConfig } = containerRecipe(inspected({}, { Config, HostConfig }), {});
    expect([config, hostConfig]).toEqual([{ StopTimeout: 0 }, { Init: false }]);
  });
});

describe("foundContainer()", () => {
  test.each([
    [{ PidMode: "container:0123" }, "the pid namespace of another container"],
    [{ IpcMode: "container:0123" }, "the ipc namespace of another container"],
    [{ Links: ["/db:/web/db"] }, "links to other containers"],
    [{ VolumesFrom: ["db"] }, "volumes of other containers"],
  ])("says that a container with %o needs another one", (HostConfig, expected) => {
    expect(foundContainer(inspected({}, { HostConfig }), undefined).privileges).toEqual([expected]);
  });
});
