import { describe, expect, test } from "bun:test";
import type { InstanceSockets } from "../../ports/services/instance_sockets.ts";
import type { Runnable } from "../../ports/services/runtime.ts";
import { eventually } from "../support/eventually.ts";
import { type ContractPrograms, type RuntimeForContract, runRequest, whenStatus } from "./runtime.ts";

/** A runtime, and the port that reports where its instances listen. */
export interface SocketsForContract<From extends Runnable = Runnable> extends Omit<
  RuntimeForContract<From>,
  "programs"
> {
  readonly programs: Pick<ContractPrograms, "web" | "silent" | "crashing">;
  readonly sockets: InstanceSockets;
  /** A command that listens on 127.0.0.1 at a port that is not its own. */
  readonly elsewhere: { readonly command: string; readonly port: number };
}

/** Contract tests for `InstanceSockets` adapters. */
export function instanceSocketsContract<From extends Runnable>(
  name: string,
  open: () => Promise<SocketsForContract<From>>,
) {
  describe(`InstanceSockets contract: ${name}`, () => {
    test("listening() returns the port that a program listens on, and none of other programs", async () => {
      await using world = await open();
      const { runtime, sockets, programs } = world;
      await runtime.start(runRequest(world, programs.web));
      const { instanceId, ports } = await runtime.start(runRequest(world, programs.web));
      const seen = await eventually(
        () => sockets.listening(instanceId),
        (found) => found !== undefined && found.length > 0,
      );
      expect(seen!.map(({ port }) => port)).toEqual([ports[0]!.inside]);
    });

    test("listening() returns the address of a program that listens on another port than its own", async () => {
      await using world = await open();
      const { runtime, sockets, elsewhere } = world;
      const { instanceId } = await runtime.start(runRequest(world, elsewhere.command));
      const seen = await eventually(
        () => sockets.listening(instanceId),
        (found) => found !== undefined && found.length > 0,
      );
      expect(seen).toEqual([{ address: "127.0.0.1", port: elsewhere.port }]);
    });

    test("listening() of a program that does not listen is empty", async () => {
      await using world = await open();
      const { instanceId } = await world.runtime.start(runRequest(world, world.programs.silent));
      expect(await world.sockets.listening(instanceId)).toEqual([]);
    });

    test("listening() returns nothing for an instance that has exited or is unknown", async () => {
      await using world = await open();
      const { instanceId } = await world.runtime.start(runRequest(world, world.programs.crashing, { oneShot: true }));
      await whenStatus(world.runtime, instanceId, "exited");
      expect(await world.sockets.listening(instanceId)).toBeUndefined();
      expect(await world.sockets.listening("unknown-instance")).toBeUndefined();
    });
  });
}
