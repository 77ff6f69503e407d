import { expect, test } from "bun:test";
import { type MemoryWorld, memoryWorld } from "../../../adapters/memory/memory_world.ts";
import { newId } from "../../../domain/id.ts";
import type { Grant } from "../../../domain/identity/permission.ts";
import { Secret } from "../../../domain/secret.ts";
import { UPLOAD_QUOTA } from "../../../domain/projects/upload.ts";
import {
  aDeployment,
  aMember,
  anOrganization,
  aProject,
  serviceSetOf,
  deploymentOf,
  domainOf,
  firstOwner,
  founderOf,
  freeNameOf,
  invitationOf,
  logLine,
  minutes,
  organizationOf,
  projectOf,
  tokenOf,
  uniqueFingerprint,
} from "../../support/database/store_builders.ts";

const PAGE = { page: 1, perPage: 100 };

/** A stored value: the original, and functions that read it. */
interface Kept {
  readonly given: object;
  readonly reads: readonly (() => Promise<unknown>)[];
}

const grants = (): Grant[] => [{ resource: "project", id: "p", action: "read" }];

const STORES: Readonly<Record<string, (world: MemoryWorld) => Promise<Kept>>> = {
  async organizations(world) {
    const given = organizationOf();
    await world.organizations.create(given, (await founderOf(world)).id);
    const { id } = given;
    return { given, reads: [() => world.organizations.list([id], PAGE)] };
  },
  async installation(world) {
    const given = await firstOwner();
    await world.installation.claim(given);
    const { tokenFingerprint } = given;
    const { id } = given.organization;
    return {
      given,
      reads: [
        () => world.installation.founder(),
        () => world.identities.find("token", tokenFingerprint),
        () => world.organizations.list([id], PAGE),
      ],
    };
  },
  async members(world) {
    const { id } = await anOrganization(world);
    const userId = await aMember(world, id);
    const given = { role: "restricted" as const, grants: grants() };
    await world.members.change(id, userId, given);
    return { given, reads: [() => world.members.find(id, userId), () => world.members.list(id, PAGE)] };
  },
  async invitations(world) {
    const { id: organizationId } = await anOrganization(world);
    const invitedBy = (await founderOf(world)).id;
    const given = invitationOf({ organizationId, invitedBy, grants: grants() });
    const token = await uniqueFingerprint();
    await world.invitations.create(given, token);
    const { id } = given;
    return {
      given,
      reads: [
        () => world.invitations.findByToken(token),
        () => world.invitations.find(organizationId, id),
        () => world.invitations.list(organizationId, minutes(0), PAGE),
      ],
    };
  },
  async tokens(world) {
    const { id: organizationId } = await anOrganization(world);
    const userId = (await founderOf(world)).id;
    const narrowing = { permissions: ["project:read"] as const, grants: grants() };
    const given = tokenOf({ organizationId, userId, narrowing, expiresAt: minutes(9) });
    const fingerprint = await uniqueFingerprint();
    await world.tokens.create(given, fingerprint);
    return {
      given,
      reads: [
        () => world.tokens.list({ organizationId, userId }, PAGE),
        () => world.identities.find("token", fingerprint),
      ],
    };
  },
  async sessions(world) {
    const given = {
      id: newId("ses"),
      userId: (await founderOf(world)).id,
      createdAt: minutes(0),
      expiresAt: minutes(9),
    };
    const cookie = await uniqueFingerprint();
    await world.sessions.create(given, cookie);
    return { given, reads: [() => world.identities.find("session", cookie)] };
  },
  async auditLog(world) {
    const { id: organizationId } = await anOrganization(world);
    const given = {
      id: newId("aud"),
      organizationId,
      userId: (await founderOf(world)).id,
      credential: { kind: "token", id: newId("tok") },
      actingFor: { id: "usr_1", email: "ada@example.com" },
      action: "project.create",
      target: "x",
      changed: ["name"],
      at: minutes(1),
      from: "192.0.2.1",
      requestId: "r",
      outcome: "started",
    } as const;
    await world.auditLog.record(given);
    return { given, reads: [() => world.auditLog.list(organizationId, {}, PAGE)] };
  },
  async projects(world) {
    const { id: organizationId } = await anOrganization(world);
    const given = projectOf({ organizationId, settings: { services: [{ name: "web", ports: ["80"] }] } });
    await world.projects.create(given, freeNameOf(given));
    const { id, slug } = given;
    return {
      given,
      reads: [
        () => world.projects.find(organizationId, id),
        () => world.projects.findBySlug(organizationId, slug),
        () => world.projects.list(organizationId, {}, PAGE),
      ],
    };
  },
  async "projects.change"(world) {
    const { id: organizationId } = await anOrganization(world);
    const { id } = await aProject(world, { organizationId });
    const given = { name: "New", settings: { services: [{ name: "web", ports: ["80"] }] } };
    const changed = await world.projects.change(organizationId, id, {
      change(project) {
        scramble(project);
        return given;
      },
      at: minutes(1),
    });
    scramble(changed);
    return { given, reads: [() => world.projects.find(organizationId, id)] };
  },
  async deployments(world) {
    const { id: organizationId } = await anOrganization(world);
    const { id: projectId } = await aProject(world, { organizationId });
    const steps = [{ name: "build", status: "running", startedAt: minutes(1), durationMs: null }] as const;
    const deployment = deploymentOf({ organizationId, projectId, steps: [...steps], urls: ["http://x"] });
    const { id } = deployment;
    const given = { deployment, events: [logLine("one")] };
    scramble(await world.deployments.create(deployment, { environment: new Map(), events: given.events }));
    const changed = await world.deployments.change(id, (stored) => {
      scramble(stored);
      return given;
    });
    scramble(changed);
    scramble(await world.deploymentQueue.take({ owner: "x", leaseMs: 1_000, maxBuilds: 1 }));
    return {
      given,
      reads: [
        () => world.deployments.get(id),
        () => world.deployments.find(organizationId, id),
        () => world.deploymentHistory.list(organizationId, {}, PAGE),
        () => world.deployments.ofProject(projectId),
        () => world.deploymentEvents.read(id, { since: 0, limit: 10 }),
      ],
    };
  },
  async serviceSets(world) {
    const { id: organizationId } = await anOrganization(world);
    const { id: projectId } = await aProject(world, { organizationId });
    const [first, second] = [deploymentOf({ organizationId, projectId }), deploymentOf({ organizationId, projectId })];
    const given = { created: serviceSetOf("web"), written: serviceSetOf("api") };
    const content = { environment: new Map(), events: [] };
    await world.deployments.create(first, { ...content, serviceSet: given.created });
    await world.deployments.create(second, content);
    await world.serviceSets.write(second.id, given.written);
    return { given, reads: [first.id, second.id].map((id) => () => world.serviceSets.read(id)) };
  },
  async runtimeLogs(world) {
    const { id: deploymentId } = await aDeployment(world);
    const owner = { deploymentId, service: "web" };
    const at = minutes(1);
    const lines = [{ seq: 3, at: minutes(2), stream: "stdout", message: "hello" }] as const;
    const given = { instanceId: "one", lines: [...lines], leftOut: { lines: 2, bytes: 50, seq: 2, at } };
    await world.runtimeLogs.append(owner, given, { maxBytes: 1_000 });
    return {
      given,
      reads: [() => world.runtimeLogs.read(owner, { since: 0, limit: 10 }), () => world.runtimeLogs.states([owner])],
    };
  },
  async domains(world) {
    const { id: organizationId } = await anOrganization(world);
    const { id: projectId } = await aProject(world, { organizationId });
    const given = domainOf({ organizationId, projectId });
    await world.domains.claim(given);
    const { id } = given;
    scramble(await world.domains.verified(organizationId, id, minutes(2)));
    return {
      given,
      reads: [() => world.domains.find(organizationId, id), () => world.domains.list(organizationId, {}, PAGE)],
    };
  },
  async variables(world) {
    const { id: organizationId } = await anOrganization(world);
    const { id } = await aProject(world, { organizationId });
    const upserts = [{ key: "A", value: new Secret("1"), secret: false }];
    const given = { upserts, deletes: [], at: minutes(1) };
    await world.variables.change(id, given);
    return { given, reads: [() => world.variables.list(id)] };
  },
  async servers(world) {
    const { id: organizationId } = await anOrganization(world);
    const given = {
      id: newId("srv"),
      organizationId,
      name: "Server",
      sshHost: "server.example.com",
      sshPort: 22,
      sshUser: "deploy",
      hostKey: null,
      hasSshPassword: false,
      hasSshPrivateKey: false,
      hasSshKeyPassphrase: false,
      lastCheckedAt: minutes(1),
      lastCheckError: null,
      createdAt: minutes(1),
      updatedAt: minutes(1),
    };
    await world.servers.create(given, { sshPassword: null, sshPrivateKey: null, sshKeyPassphrase: null });
    const { id } = given;
    return {
      given,
      reads: [
        () => world.servers.find(organizationId, id),
        () => world.servers.list(organizationId, {}, PAGE),
        () => world.servers.credentials(organizationId, id),
      ],
    };
  },
  async uploadSessions(world) {
    const { id: organizationId } = await anOrganization(world);
    const given = {
      id: newId("upl"),
      organizationId,
      userId: (await founderOf(world)).id,
      name: "x",
      mode: "local",
      state: "open",
      bytes: null,
      sha256: null,
      files: null,
    } as const;
    await world.uploadSessions.create(given, { lifetimeMs: 1_000, quota: UPLOAD_QUOTA });
    const { id } = given;
    return { given, reads: [() => world.uploadSessions.find(organizationId, id)] };
  },
  async cloudLinks(world) {
    const { id: organizationId } = await anOrganization(world);
    const given = { organizationId, url: "https://cloud.example.com", updatedAt: minutes(1) };
    await world.cloudLinks.put(given, new Secret("x"));
    return { given, reads: [() => world.cloudLinks.find(organizationId)] };
  },
  async installations(world) {
    const { id: organizationId } = await anOrganization(world);
    const given = {
      id: 1,
      organizationId,
      account: { login: "acme", id: 2, type: "User", avatarUrl: null },
      suspended: false,
      connectedBy: newId("usr"),
      connectedAt: minutes(1),
    } as const;
    await world.appInstallations.connect(given);
    return { given, reads: [() => world.appInstallations.find(1), () => world.appInstallations.list(organizationId)] };
  },
  async oauthAccounts(world) {
    const { id: organizationId } = await anOrganization(world);
    const userId = await aMember(world, organizationId);
    const account = { organizationId, userId, login: "octocat", connectedAt: minutes(1) };
    const former = { token: new Secret("x"), refreshToken: new Secret("y"), expiresAt: minutes(1) };
    const grant = { ...former, expiresAt: minutes(2) };
    await world.oauthAccounts.put(account, former);
    await world.oauthAccounts.renew(account, former, grant);
    return {
      given: { account, former, grant },
      reads: [() => world.oauthAccounts.list(organizationId), () => world.oauthAccounts.grant(organizationId, userId)],
    };
  },
  async connectAttempts(world) {
    const { id: organizationId } = await anOrganization(world);
    const userId = await aMember(world, organizationId);
    const given = {
      organizationId,
      userId,
      deviceCode: new Secret("x"),
      userCode: "A",
      verificationUri: "https://example.com",
      intervalSeconds: 60,
      nextCheckAt: minutes(1),
      expiresAt: minutes(9),
      status: "pending",
    } as const;
    await world.connectAttempts.putDevice(given);
    scramble(await world.connectAttempts.takeDueDevice(minutes(1)));
    return { given, reads: [() => world.connectAttempts.device(organizationId, userId)] };
  },
  async repositoryHooks(world) {
    const { id: organizationId } = await anOrganization(world);
    const name = { owner: "acme", repo: "shop" };
    const given = { organizationId, ...name, hookId: 1, createdAt: minutes(1) };
    await world.repositoryHooks.put(given, new Secret("x"));
    return {
      given,
      reads: [() => world.repositoryHooks.find(organizationId, name), () => world.repositoryHooks.secrets(name)],
    };
  },
  async webhookDeliveries(world) {
    const { id: organizationId } = await anOrganization(world);
    const { id: projectId } = await aProject(world, { organizationId });
    const deliveryId = newId("aud");
    const delivery = { deliveryId, event: "push", action: null, repository: null, receivedAt: minutes(1) };
    const decision = {
      projectId,
      organizationId,
      decision: "ignored",
      reason: "x",
      deploymentId: null,
      branch: null,
      commitSha: null,
    } as const;
    const asked = { ...delivery };
    const outcome = { decisions: [decision] };
    await world.webhookDeliveries.begin(delivery);
    await world.webhookDeliveries.finish(deliveryId, outcome);
    return {
      given: { delivery, outcome },
      reads: [() => world.webhookDeliveries.begin(asked), () => world.webhookDeliveries.list(projectId, PAGE)],
    };
  },
  async deployKeys(world) {
    const { id: organizationId } = await anOrganization(world);
    const { id: projectId } = await aProject(world, { organizationId });
    const key = { projectId, publicKey: "ssh-ed25519 AAAA x", fingerprint: "SHA256:x", createdAt: minutes(1) };
    const hostKey = { host: "x", key: "ssh-rsa AAAA", fingerprint: "SHA256:x", pinnedAt: minutes(1) };
    const again = { ...hostKey, pinnedAt: minutes(2) };
    await world.deployKeys.put(key, new Secret("x"));
    await world.deployKeys.pinHostKey(projectId, hostKey);
    const reads = [() => world.deployKeys.find(projectId), () => world.deployKeys.pinHostKey(projectId, again)];
    return { given: { key, hostKey }, reads };
  },
  async idempotentAnswers(world) {
    const request = { caller: "c", key: "k", route: "r", body: "b" };
    const claim = await world.idempotentAnswers.claim(request, 1_000);
    const given = { status: 200, body: "{}" };
    if (claim.state === "mine") await world.idempotentAnswers.keep(claim.claimId, "b", given);
    return { given, reads: [() => world.idempotentAnswers.claim(request, 1_000)] };
  },
};

/** Mutates everything in a value that its holder could mutate. */
function scramble(value: unknown): void {
  if (value !== null && typeof value === "object" && !(value instanceof Secret)) {
    for (const part of Object.values(value)) scramble(part);
    for (const key of Object.keys(value)) Reflect.deleteProperty(value, key);
  }
}

test.each(Object.keys(STORES))("memory stores copies: %s", async (store) => {
  const { given, reads } = await STORES[store]!(memoryWorld());
  const before = await Promise.all(reads.map(async (read) => JSON.stringify(await read())));
  for (const answer of before) expect(answer).toBeDefined();
  scramble(given);
  for (const read of reads) scramble(await read());
  expect(await Promise.all(reads.map(async (read) => JSON.stringify(await read())))).toEqual(before);
});
