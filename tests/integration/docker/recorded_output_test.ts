import { expect, test } from "bun:test";
import { MemoryLog } from "../../../adapters/memory/log.ts";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { recordedRuntime } from "../../../application/services/recorded_runtime.ts";
import { ServiceLog } from "../../../application/services/service_log.ts";
import type { OutputLine, Runtime } from "../../../ports/services/runtime.ts";
import { runRequest } from "../../contracts/runtime.ts";
import { dockerWorld } from "../../support/peers/docker_world.ts";
import { eventually } from "../../support/eventually.ts";
import { aDeployment } from "../../support/database/store_builders.ts";

test("the output of a container keeps its numbers when it is removed, and when one with the same id is started", async () => {
  await using world = await dockerWorld();
  const { log, runtimeLogs, ...stores } = { ...memoryWorld(), log: new MemoryLog() };
  const { id: deploymentId } = await aDeployment(stores);
  const owner = { deploymentId, service: "app" };
  const runtime = recordedRuntime(world.runtime as Runtime, { ...stores, log, runtimeLogs });
  const request = runRequest(world, world.programs.polite, { deploymentId });
  const { instanceId } = request;
  const read = async (since = 0): Promise<readonly OutputLine[]> => {
    const [state] = await runtimeLogs.states([owner]);
    return new ServiceLog({ runtime, runtimeLogs }, { owner, instanceId, state }).read({ since, limit: 100 });
  };
  const messages = ["started", "bye", "for good"];
  const seen: OutputLine[] = [];
  for (let life = 1; life <= 2; life++) {
    await runtime.start(request);
    seen.push(
      ...(await eventually(
        () => read(seen.at(-1)?.seq),
        ({ length }) => length > 0,
      )),
    );
    await runtime.remove(instanceId, { graceMs: 10_000 });
    expect(await world.runtime.find(instanceId)).toBeUndefined();
    seen.push(...(await read(seen.at(-1)!.seq)));
    expect(seen.map(({ message }) => message)).toEqual(Array.from({ length: life }, () => messages).flat());
    expect(await read()).toEqual(seen);
  }
  const numbers = seen.map(({ seq }) => seq);
  expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
  expect(log.lines).toEqual([]);
});
