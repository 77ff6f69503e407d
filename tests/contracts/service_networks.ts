import { describe, expect, test } from "bun:test";
import type { ServiceNetworks } from "../../ports/services/service_networks.ts";
import { type ServiceRuntimeForContract, serviceRequest } from "./service_runtime.ts";

const GRACE = { graceMs: 0 };

/** Networks, together with the runtime that uses them. */
export interface ServiceNetworksForContract extends ServiceRuntimeForContract {
  readonly serviceNetworks: ServiceNetworks;
  /** The number of networks that a scope has. */
  networksOf(scope: string): Promise<number>;
}

/** Contract tests for `ServiceNetworks` adapters. */
export function serviceNetworksContract(
  name: string,
  open: () => Promise<ServiceNetworksForContract>,
  { atOnce = false } = {},
) {
  const promise = atOnce ? test.concurrent : test;
  describe(`ServiceNetworks contract: ${name}`, () => {
    promise("prepare() makes one network for a scope, however often and concurrently it is called", async () => {
      await using world = await open();
      const { serviceNetworks } = world;
      await Promise.all([serviceNetworks.prepare("prj_1"), serviceNetworks.prepare("prj_1")]);
      await serviceNetworks.prepare("prj_1");
      expect(await world.networksOf("prj_1")).toBe(1);
      expect(await world.networksOf("prj_2")).toBe(0);
      await serviceNetworks.release("prj_1");
    });

    promise("an instance uses the prepared network, which goes with the last instance", async () => {
      await using world = await open();
      const { programs, runtime, serviceNetworks } = world;
      await serviceNetworks.prepare("prj_1");
      const request = serviceRequest(world, programs.working, { scope: "prj_1", service: "web" });
      await runtime.start(request);
      expect(await world.networksOf("prj_1")).toBe(1);
      expect(await world.found(request.instanceId, "web")).toEqual([request.instanceId]);
      await runtime.remove(request.instanceId, GRACE);
      expect(await world.networksOf("prj_1")).toBe(0);
    });

    promise("prepare() and release() leave the network of an instance alone", async () => {
      await using world = await open();
      const { programs, runtime, serviceNetworks } = world;
      const request = serviceRequest(world, programs.working, { scope: "prj_1", service: "web" });
      await runtime.start(request);
      await serviceNetworks.prepare("prj_1");
      await serviceNetworks.release("prj_1");
      expect(await world.networksOf("prj_1")).toBe(1);
      expect(await world.found(request.instanceId, "web")).toEqual([request.instanceId]);
      await runtime.remove(request.instanceId, GRACE);
    });

    promise(
      "release() removes a network that nothing uses, only of that scope, and accepts one without any",
      async () => {
        await using world = await open();
        const { serviceNetworks } = world;
        for (const scope of ["prj_1", "dep_1"]) await serviceNetworks.prepare(scope);
        await serviceNetworks.release("prj_1");
        await serviceNetworks.release("prj_1");
        expect(await world.networksOf("prj_1")).toBe(0);
        expect(await world.networksOf("dep_1")).toBe(1);
        await serviceNetworks.release("dep_1");
      },
    );
  });
}
