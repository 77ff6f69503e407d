import { expect, test } from "bun:test";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { cleanRuntimeLogs } from "../../../application/services/clean_runtime_logs.ts";
import type { Deployment } from "../../../domain/deployments/deployment.ts";
import { aDeployment, anOrganization, aProject, minutes } from "../../support/database/store_builders.ts";

const LINES = [{ seq: 1, at: minutes(1), stream: "stdout", message: "hello" }] as const;

test("cleanRuntimeLogs() removes logs of old deployments that are neither pinned, kept, running nor part of a newer one", async () => {
  const world = memoryWorld();
  const { id: organizationId } = await anOrganization(world);
  const { id: projectId } = await aProject(world, { organizationId });
  const other = await aDeployment(world, { organizationId });
  const made: Deployment[] = [];
  const make = async (overrides: Partial<Deployment> = {}) => {
    const createdAt = minutes(made.length);
    const deployment = await aDeployment(world, {
      organizationId,
      projectId,
      createdAt,
      status: "failed",
      ...overrides,
    });
    made.push(deployment);
    return deployment;
  };
  const starter = await make();
  const pinned = await make({ pinned: true });
  const kept = await make({ status: "ready", artifactAvailable: true });
  const pending = await make({ status: "partial_failure", decision: "pending" });
  const waiting = await make({ status: "queued" });
  const old = [await make(), await make({ status: "ready" })];
  const db = { name: "db", status: "unchanged", url: null, error: null, site: null } as const;
  const newest = [await make({ services: [{ ...db, instanceId: `${starter.id}-db-1-c` }] })];
  while (newest.length < 20) newest.push(await make());
  for (const { id } of [...made, other]) {
    for (const service of ["web", "db"]) {
      const owner = { deploymentId: id, service };
      await world.runtimeLogs.append(owner, { instanceId: "x", lines: LINES, leftOut: null }, { maxBytes: 1_000 });
    }
  }
  const left = async () => {
    const owners = [...made, other].map(({ id }) => ({ deploymentId: id, service: "db" }));
    return (await world.runtimeLogs.states(owners)).map(({ deploymentId }) => deploymentId).toSorted();
  };
  const clean = cleanRuntimeLogs(world);
  await clean();
  const stay = [starter, pinned, kept, pending, waiting, ...newest, other].map(({ id }) => id).toSorted();
  expect(await left()).toEqual(stay);
  expect(old.map(({ id }) => id).filter((id) => stay.includes(id))).toEqual([]);
  await clean();
  expect(await left()).toEqual(stay);
});
