import { expect, test } from "bun:test";
import { memoryApp } from "../support/apps/app.ts";

const DAY = 24 * 3_600_000;

test("sweepHistory() removes invitations when they expire, tokens a month later, and audit entries after 400 days", async () => {
  const app = await memoryApp();
  const { clock, invitations, tokens, auditLog, organizations, installation } = app.world;
  const ask = (method: string, path: string, body?: object) =>
    app.call(method, path, { token: app.owner, ...(body && { body }) });
  const userId = (await installation.founder())!.id;
  const [organization] = (await organizations.listOf(userId, { page: 1, perPage: 1 })).items;
  const owner = { organizationId: organization!.id, userId };
  const all = { page: 1, perPage: 100 };
  const kept = async () => ({
    invitations: (await invitations.list(owner.organizationId, new Date(0), all)).total,
    tokens: (await tokens.list(owner, all)).total,
    changes: (await auditLog.list(owner.organizationId, {}, all)).total,
  });
  const afterDays = async (days: number) => {
    clock.advance(days * DAY);
    await app.useCases.sweepHistory();
    return kept();
  };
  await ask("POST", "/api/members", { email: "new@example.com", role: "viewer" });
  const expiresAt = new Date(clock.now().getTime() + DAY).toISOString();
  await ask("POST", "/api/tokens", { name: "short", expiresAt });
  expect(await afterDays(6)).toEqual({ invitations: 1, tokens: 2, changes: 2 });
  expect(await afterDays(2)).toEqual({ invitations: 0, tokens: 2, changes: 2 });
  expect(await afterDays(22)).toEqual({ invitations: 0, tokens: 2, changes: 2 });
  expect(await afterDays(2)).toEqual({ invitations: 0, tokens: 1, changes: 2 });
  expect(await afterDays(367)).toEqual({ invitations: 0, tokens: 1, changes: 2 });
  expect(await afterDays(2)).toEqual({ invitations: 0, tokens: 1, changes: 0 });
});
