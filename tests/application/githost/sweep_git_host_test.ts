import { expect, test } from "bun:test";
import { memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { sweepGitHost } from "../../../application/githost/sweep_git_host.ts";
import { Secret } from "../../../domain/secret.ts";
import { anOrganization, aProject, founderOf } from "../../support/database/store_builders.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

test("sweepGitHost() removes attempts to connect an hour after they expire, and deliveries after 30 days", async () => {
  const world = memoryWorld();
  const { clock, connectAttempts, webhookDeliveries } = world;
  const { id: organizationId } = await anOrganization(world);
  const { id: projectId } = await aProject(world, { organizationId });
  const { id: userId } = await founderOf(world);
  const receivedAt = clock.now();
  const expiresAt = new Date(receivedAt.getTime() + 10 * MINUTE);
  const attempt = { organizationId, userId, expiresAt };
  await connectAttempts.put({ ...attempt, stateHash: "aa", installationId: null, startedAt: receivedAt });
  await connectAttempts.putDevice({
    ...attempt,
    deviceCode: new Secret("code"),
    userCode: "ABCD-1234",
    verificationUri: "https://git.example.com/login/device",
    intervalSeconds: 5,
    nextCheckAt: receivedAt,
    status: "complete",
  });
  const delivery = { deliveryId: "one", event: "push", action: null, repository: "acme/shop", receivedAt };
  await webhookDeliveries.begin(delivery);
  const details = { deploymentId: null, branch: "main", commitSha: null };
  const decision = { organizationId, projectId, decision: "ignored", reason: "Another branch", ...details } as const;
  await webhookDeliveries.finish("one", { decisions: [decision] });
  const after = async (ms: number) => {
    clock.advance(ms);
    await sweepGitHost(world)();
    return {
      login: (await connectAttempts.device(organizationId, userId))?.status,
      deliveries: (await webhookDeliveries.list(projectId, { page: 1, perPage: 10 })).total,
    };
  };
  expect(await after(69 * MINUTE)).toEqual({ login: "complete", deliveries: 1 });
  expect(await after(2 * MINUTE)).toEqual({ login: undefined, deliveries: 1 });
  expect(await connectAttempts.take("aa", receivedAt)).toBeUndefined();
  expect(await after(29 * DAY)).toEqual({ login: undefined, deliveries: 1 });
  expect(await after(DAY)).toEqual({ login: undefined, deliveries: 0 });
});
