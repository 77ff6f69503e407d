import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { OctokitClients } from "../../adapters/githost/octokit_clients.ts";
import { OctokitCommitStatuses } from "../../adapters/githost/octokit_commit_statuses.ts";
import { OctokitRepositories } from "../../adapters/githost/octokit_repositories.ts";
import { MemoryLog } from "../../adapters/memory/log.ts";
import { memoryWorld } from "../../adapters/memory/memory_world.ts";
import type { PostgresWorld } from "../../adapters/postgres/postgres_world.ts";
import { reportCommits } from "../../application/githost/report_commits.ts";
import { watchOutbox } from "../../application/githost/watch_outbox.ts";
import type { Deployment } from "../../domain/deployments/deployment.ts";
import type { Project } from "../../domain/projects/project.ts";
import type { World } from "../../ports/world.ts";
import { failureOf, NEVER, REFUSED } from "../contracts/git_host_stage.ts";
import { eventually } from "../support/eventually.ts";
import { intercepted } from "../support/faults/intercepted.ts";
import { migratedDatabase, openStores, vaultOf } from "../support/database/postgres_stores.ts";
import { aDeployment, anOrganization, aProject } from "../support/database/store_builders.ts";
import { EmulatedGitHost } from "../support/peers/emulated_git_host.ts";
import { hostSettings } from "../support/peers/host_settings.ts";

const SHOP = { owner: "acme", repo: "shop" };
const SITE_URL = "https://git.example.com/acme/site.git";
const LINKED = { gitOwner: "acme", gitRepo: "shop", gitAccess: true };

let lifetime: AsyncDisposableStack;
let host: EmulatedGitHost;
let clients: OctokitClients;
let installationId: number;
let first: PostgresWorld;
let second: PostgresWorld;
let organizationId: string;
const log = new MemoryLog();

beforeAll(async () => {
  await using opened = new AsyncDisposableStack();
  host = opened.use(await EmulatedGitHost.start());
  host.addAccount("acme", "Organization");
  installationId = host.install("acme");
  clients = new OctokitClients(hostSettings(host));
  const { url } = opened.use(await migratedDatabase());
  const vault = await vaultOf();
  first = opened.use(await openStores({ url, vault }));
  second = opened.use(await openStores({ url, vault }));
  organizationId = (await anOrganization(first)).id;
  const connected = { organizationId, connectedBy: "usr_1", connectedAt: new Date() };
  await first.appInstallations.connect({ ...host.installation(installationId), ...connected });
  lifetime = opened.move();
});
afterAll(async () => {
  await lifetime?.disposeAsync();
});
beforeEach(() => {
  // A repository with a new commit for every test.
  host.addRepository({ owner: "acme", name: "shop" });
  host.intercept = undefined;
  log.lines.length = 0;
});

/** Reports as one server process does, until disposed. */
function aProcess(stores: Omit<PostgresWorld, "commitReports"> & Pick<World, "commitReports">): AsyncDisposable {
  const stopping = new AbortController();
  const ports = {
    ...memoryWorld(),
    ...stores,
    clock: { now: () => new Date() },
    commitStatuses: new OctokitCommitStatuses(clients),
    githostUrl: host.webUrl,
    log,
    mode: "self-hosted",
    urlOf: (hostname: string) => `https://${hostname}`,
  } as const;
  const watching = watchOutbox(reportCommits(ports))(stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await watching;
    },
  };
}

async function aLinkedProject(): Promise<Project> {
  return aProject(first, { organizationId, settings: LINKED });
}

function deploymentOf({ id: projectId }: Project, overrides: Partial<Deployment> = {}): Promise<Deployment> {
  const url = `${host.webUrl}/acme/shop.git`;
  const source = { kind: "git", url, branch: "main", commit: null } as const;
  return aDeployment(first, { organizationId, projectId, source, commitSha: host.tipOf(SHOP, "main"), ...overrides });
}

async function change({ id }: Deployment, to: Partial<Deployment>): Promise<void> {
  await first.deployments.change(id, (stored) => ({ deployment: { ...stored, ...to }, events: [] }));
}

/** The states that the current commit got, in order. */
function states(): readonly string[] {
  return host.statusesOf(SHOP, host.tipOf(SHOP, "main")).map(({ state, description }) => `${state} ${description}`);
}

async function until(last: string): Promise<void> {
  await eventually(
    async () => states().at(-1),
    (state) => state === last,
  );
}

/** Resolves once nothing is left to report. */
async function untilIdle(): Promise<void> {
  await eventually(
    () => first.commitReports.nextDueMs(),
    (ms) => ms === null,
  );
}

test("two processes report each status of a deployment once, in order", async () => {
  await using processes = new AsyncDisposableStack();
  for (const stores of [first, second]) processes.use(aProcess(stores));
  const project = await aLinkedProject();
  const deployment = await deploymentOf(project);
  await until("pending Waiting");
  for (const [status, shown] of [
    ["building", "pending Building"],
    ["deploying", "pending Deploying"],
    ["ready", "success Deployed"],
  ] as const) {
    await change(deployment, { status });
    await until(shown);
  }
  await untilIdle();
  expect(states()).toEqual(["pending Waiting", "pending Building", "pending Deploying", "success Deployed"]);
  const last = host.statusesOf(SHOP, host.tipOf(SHOP, "main")).at(-1);
  expect(last).toMatchObject({ context: `slipway/${project.slug}`, targetUrl: `https://${project.hostname}` });
  expect(log.lines).toEqual([]);
});

test("what happened while no process ran is reported after the next start", async () => {
  const deployment = await deploymentOf(await aLinkedProject());
  const error = { code: "build_failed", message: "Cannot build: npm failed. Read the log", step: null };
  await change(deployment, { status: "failed", error });
  await using processes = new AsyncDisposableStack();
  processes.use(aProcess(second));
  await until("failure Cannot build: npm failed");
  await untilIdle();
  expect(states()).toHaveLength(1);
});

test("a host that is down for a moment gets the status later", async () => {
  await host.fail("down");
  await using processes = new AsyncDisposableStack();
  processes.use(aProcess(first));
  await deploymentOf(await aLinkedProject(), { status: "ready" });
  await eventually(
    () => first.commitReports.nextDueMs(),
    (ms) => ms !== null && ms > 0 && ms <= 5_000,
  );
  await host.fail(null);
  await until("success Deployed");
});

test("an app without the permission is left alone, silently", async () => {
  host.intercept = (_request, { pathname }) =>
    pathname.includes("/statuses/")
      ? Response.json({ message: "Resource not accessible by integration" }, { status: 403 })
      : undefined;
  const before = host.requests.length;
  await using processes = new AsyncDisposableStack();
  processes.use(aProcess(first));
  const deployment = await deploymentOf(await aLinkedProject());
  // A change while the first report is under way would be reported at once.
  await eventually(
    async () => log.lines.length,
    (lines) => lines > 0,
  );
  await untilIdle();
  await change(deployment, { status: "ready" });
  await untilIdle();
  expect(host.requests.slice(before).filter(({ line }) => line.includes("/statuses/"))).toHaveLength(1);
  expect(log.lines.map(({ level }) => level)).toEqual(["debug"]);
});

test("a token that may only clone may not set statuses", async () => {
  const { token } = await new OctokitRepositories(clients).cloneToken(installationId, SHOP, NEVER);
  const status = { state: "success", description: "Deployed", targetUrl: null, context: "slipway/shop" } as const;
  const access = { kind: "token", token } as const;
  const put = new OctokitCommitStatuses(clients).put(access, SHOP, host.tipOf(SHOP, "main"), status, NEVER);
  expect(await failureOf(put, token)).toMatchObject(REFUSED);
});

test("deployments of a project without the git host do not wake anything", async () => {
  const looks = { begun: 0, ended: 0 };
  const commitReports = intercepted(first.commitReports, "nextDueMs", async (proceed) => {
    looks.begun++;
    const ms = await proceed();
    looks.ended++;
    return ms;
  });
  await using processes = new AsyncDisposableStack();
  processes.use(aProcess({ ...first, commitReports }));
  await eventually(
    async () => looks,
    ({ ended }) => ended > 0,
  );
  const before = { ...looks };
  const deployment = await deploymentOf(await aProject(first, { organizationId, settings: { gitUrl: SITE_URL } }));
  await change(deployment, { status: "ready" });
  // What was announced has arrived by now.
  expect(await first.signals.handled(10_000)).toBe(true);
  expect(looks).toEqual(before);
});
