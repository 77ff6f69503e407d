import type { ContainerRecord } from "../engine/containers.ts";
import { type EngineApi } from "../engine/engine_api.ts";
import { startContainer } from "../engine/containers.ts";
import { isUp } from "./container_state.ts";

/** Starts an adopted container, if it does not run, and returns it. */
export async function startAdopted(engine: EngineApi, record: ContainerRecord): Promise<ContainerRecord> {
  if (isUp(record)) return record;
  await startContainer(engine, record.Id);
  return { ...record, State: { ...record.State, Status: "running", StartedAt: new Date(engine.now()).toISOString() } };
}

/** Stops an adopted container, and leaves it there: it may have to be started again, and it is not ours to remove. */
export async function stopAdopted(
  record: ContainerRecord,
  stop: () => Promise<void>,
  beforeForgetting: (() => Promise<void>) | undefined,
): Promise<void> {
  if (!isUp(record)) return;
  await stop();
  await beforeForgetting?.();
}
