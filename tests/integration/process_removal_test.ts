import { describe, expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { InstanceFolder } from "../../adapters/process/instance_folder.ts";
import { eventually } from "../support/eventually.ts";
import { processWorld, workingSandboxes } from "../support/apps/process_world.ts";
import { runRequest } from "../contracts/runtime.ts";

const SLOW = `
  process.on("SIGTERM", async () => {
    console.log("asked to stop");
    await Bun.sleep(300);
    console.log("done");
    process.exit(0);
  });
  console.log("up");
  setInterval(() => {}, 60_000);
`;

const ALL = { since: 0, limit: 1_000_000 };

for (const kind of await workingSandboxes()) {
  describe(`ProcessRuntime (${kind}): the output until the end`, () => {
    test("remove() by a server that does not supervise waits until the supervising one has read all lines", async () => {
      await using world = await processWorld(kind);
      await using second = world.another();
      const command = `trap 'seq 20000; printf end; exit 0' TERM; exec 2>/dev/null; echo up; while :; do sleep 0.05; done`;
      const { instanceId } = await second.start(runRequest(world, command));
      const read = () => second.output(instanceId, ALL);
      await eventually(read, ({ length }) => length > 0);
      const seen: string[] = [];
      const beforeForgetting = async () => {
        let since = 0;
        for (let page = await read(); page.length > 0; page = await second.output(instanceId, { ...ALL, since })) {
          seen.push(...page.map(({ message }) => message));
          since = page.at(-1)!.seq;
        }
      };
      await second.remove(instanceId, { graceMs: 10_000, beforeForgetting });
      expect(seen).toHaveLength(20_002);
      expect([seen[0], seen[1], seen.at(-2), seen.at(-1)]).toEqual(["up", "1", "20000", "end"]);
      expect(await world.runtime.list()).toEqual([]);
    });

    test.each(["bun slow.ts", "bun slow.ts; echo after", "(bun slow.ts) & wait", "sh -c 'bun slow.ts; true'"])(
      "remove() lets a program finish its work that a shell waits for: %s",
      async (command) => {
        await using world = await processWorld(kind);
        await writeFile(join(world.folder, "slow.ts"), SLOW);
        const { instanceId } = await world.runtime.start(runRequest(world, command));
        const read = async () => (await world.runtime.output(instanceId, ALL)).map(({ message }) => message);
        await eventually(read, ({ length }) => length > 0);
        const seen: string[] = [];
        const beforeForgetting = async () => void seen.push(...(await read()));
        await world.runtime.remove(instanceId, { graceMs: 10_000, beforeForgetting });
        expect(seen).toEqual(["up", "asked to stop", "done"]);
        expect(await world.runtime.list()).toEqual([]);
      },
    );

    test("a program whose server was killed while stopping it is ended by the next one, and stays to be removed", async () => {
      await using world = await processWorld(kind);
      const { runtime } = world;
      const { instanceId } = await runtime.start(runRequest(world, "echo up; exec sleep 600"));
      await eventually(
        () => runtime.output(instanceId, ALL),
        ({ length }) => length > 0,
      );
      const folder = new InstanceFolder(`${world.data}/instances/${instanceId}`);
      {
        using _ = await folder.hold();
        const exit = { code: null, reason: "stopped" } as const;
        await folder.writeState({ ...folder.state()!, phase: "stopping", exit });
      }
      await eventually(
        async () => folder.isUp(),
        (isUp) => !isUp,
      );
      expect(folder.isUp()).toBe(false);
      expect(await runtime.find(instanceId)).toMatchObject({ status: "exited", exit: { reason: "stopped" } });
      expect((await runtime.output(instanceId, ALL)).map(({ message }) => message)).toEqual(["up"]);
      await runtime.remove(instanceId, { graceMs: 0 });
      expect(await runtime.list()).toEqual([]);
    });
  });
}
