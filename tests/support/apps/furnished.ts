import { emptyCloud } from "../servers/empty_cloud.ts";
import { Secret } from "../../../domain/secret.ts";
import { browser, type Call, member, ownerSession, type TestApp } from "./app.ts";
import { type ArrangedWorld, type DeploymentIds, furnishDeployments, PROMPT_ID } from "./furnished_deployments.ts";
import type { MemoryWorld } from "../../../adapters/memory/memory_world.ts";
import type { World } from "../../../ports/world.ts";
import { found, inventoryOf } from "../inputs/found.ts";
import { file, tarGz } from "../inputs/tar_archive.ts";

/** The server of a furnished organization. */
export const SERVER = { name: "Berlin", sshHost: "berlin.example.com", sshUser: "deploy", sshPassword: "letmein" };

/** The backup destination of a furnished organization. */
export const DESTINATION = {
  name: "Nightly",
  kind: "s3_compatible",
  bucket: "backups",
  accessKeyId: "AKIAEXAMPLE",
  secretAccessKey: "letmein",
};

/** An in-memory machine that accepts the credentials of `SERVER`, with one container. */
export const MACHINE = {
  host: SERVER.sshHost,
  hostKey: "SHA256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU",
  logins: [{ user: SERVER.sshUser, password: SERVER.sshPassword }],
  engine: inventoryOf([found({ name: "web" })]),
};

const PUBLIC_ADDRESS = "93.184.215.14";
const CUSTOM_DOMAIN = "www.harbour.example.com";
/** The host key that is pinned for the project of a furnished organization. */
const HOST_KEY = {
  host: "git.example.com",
  key: "ssh-ed25519 AAAA",
  fingerprint: MACHINE.hostKey,
  pinnedAt: new Date("2026-01-31T12:00:00.000Z"),
};

type Callable = Pick<TestApp, "call" | "owner">;

/** An application whose world tests can set up directly, behind its API. */
type Furnishable = Callable & {
  readonly world: ArrangedWorld &
    Pick<MemoryWorld, "cloudApi" | "cloudGitHost" | "clock" | "gitHostState" | "nameRecords"> &
    Pick<World, "gitHooks" | "appInstallations">;
};

/** The id of one resource of every kind in a furnished organization. */
export type Furniture = Awaited<ReturnType<typeof furnish>>;

/** Creates one resource of every kind in the first organization; in cloud mode no cloud link, which is impossible. */
export async function furnish({ call, owner, world }: Furnishable) {
  const id = async (method: string, path: string, body: unknown) => {
    const answer = await call(method, path, { token: owner, body });
    if (answer.status > 201) throw new Error(`${method} ${path}: ${answer.text}`);
    return (answer.body.data?.id ?? answer.body.sessionId) as string;
  };
  const { mode } = (await call("GET", "/api/health")).body;
  world.nameRecords.set(SERVER.sshHost, { addresses: [PUBLIC_ADDRESS] });
  const hook = await furnishGitHost({ call, owner, world });
  const project = await id("POST", "/api/projects", { name: "Harbour", gitOwner: "acme", gitRepo: "harbour" });
  await id("POST", `/api/projects/${project}/deploy-key`, {});
  await world.deployKeys.pinHostKey(project, HOST_KEY);
  const domain = await id("POST", "/api/domains", { projectId: project, hostname: "harbour-two.localhost" });
  await verifiedDomain({ call, owner, world }, project);
  const server = await id("POST", "/api/servers", SERVER);
  const destination = await id("POST", "/api/backup-destinations", DESTINATION);
  const token = await id("POST", "/api/tokens", { name: "spare" });
  const upload = await id("POST", "/api/projects/folder/session", {});
  const scanned = await id("POST", "/api/projects/folder/session", {});
  await call("POST", `/api/projects/folder/upload/${scanned}`, { token: owner, raw: archive() });
  world.cloudApi.clouds.set("https://cloud.example.com", emptyCloud);
  if (mode !== "cloud") await id("PUT", "/api/cloud/link", { url: "https://cloud.example.com", token: "slp_cloud" });
  const { userId } = await member({ call, owner }, "viewer");
  const deployments = await furnishDeployments(world, await deploy(call, owner, project));
  return { project, domain, server, destination, token, upload, scanned, member: userId, hook, ...deployments };
}

/** Claims and verifies a custom domain for a project. */
async function verifiedDomain({ call, owner, world }: Furnishable, projectId: string): Promise<void> {
  const claimed = await call("POST", "/api/domains", { token: owner, body: { projectId, hostname: CUSTOM_DOMAIN } });
  const { id, verification } = claimed.body.data;
  world.nameRecords.set(verification.name, { texts: [verification.value] });
  const verified = await call("POST", `/api/domains/${id}/verify`, { token: owner });
  if (verified.status !== 200) throw new Error(verified.text);
}

/** Connects the first organization with a git host that has the project's repository and a webhook on it. */
async function furnishGitHost({ call, owner, world }: Furnishable): Promise<number> {
  const { gitHostState: host } = world;
  host.addAccount("acme", "Organization");
  host.addRepository({ owner: "acme", name: "harbour", branches: { main: { "package.json": "{}" } } });
  host.addRepository({ owner: "acme", name: "other", private: false });
  world.cloudGitHost.urls.set("https://cloud.example.com", "https://git.example.com/apps/cloud/installations/new");
  const { organization, user } = (await call("GET", "/api/auth/me", { token: owner })).body.data;
  const id = host.install("acme");
  const { account } = host.installation(id);
  const connected = { organizationId: organization.id, connectedBy: user.id, connectedAt: world.clock.now() };
  await world.appInstallations.connect({ id, account, suspended: false, ...connected });
  const name = { owner: "acme", repo: "harbour" };
  const settings = { url: "https://elsewhere.example.com", events: ["push"], secret: new Secret("x") };
  const access = { kind: "installation", installationId: id } as const;
  const hook = await world.gitHooks.create(access, name, settings, new AbortController().signal);
  return hook.id;
}

/** Queues one deployment of the project for every state that some route needs. */
async function deploy(call: Callable["call"], owner: string, projectId: string): Promise<DeploymentIds> {
  const id = async (environment = "production") => {
    const answer = await call("POST", "/api/deployments", { token: owner, body: { projectId, environment } });
    if (answer.status !== 202) throw new Error(answer.text);
    return answer.body.data.deployment_id as string;
  };
  return {
    queued: await id(),
    cancellable: await id(),
    asking: await id(),
    released: await id(),
    failed: await id(),
    preview: await id("preview"),
  };
}

/**
 * Tokens of every kind of caller. `foreign` is an owner of another organization, `narrowed` an owner's token limited to
 * `project:read`.
 */
export async function callers(app: Callable) {
  const { call, owner } = app;
  const viewer = await member(app, "viewer");
  const developer = await member(app, "developer");
  const body = { name: "narrow", permissions: ["project:read"] };
  const narrowed = await call("POST", "/api/tokens", { token: owner, body });
  const cookie = await ownerSession(app);
  const other = await call("POST", "/api/organizations", { ...browser(cookie), body: { name: "Elsewhere" } });
  const foreign = await member(app, "owner", { cookie, organizationId: other.body.data.id });
  return {
    anonymous: undefined,
    foreign: foreign.token,
    viewer: viewer.token,
    developer: developer.token,
    narrowed: narrowed.body.data.token as string,
    owner,
  };
}

function archive() {
  return tarGz([file("index.html", "<h1>Hi</h1>")]);
}

/** A request to a route that succeeds for an authorized caller. `who` makes its names unique. */
export function goodRequest(method: string, path: string, ids: Furniture, who: string): { path: string; call: Call } {
  const bodies: Record<string, unknown> = {
    "POST /api/auth/login": { email: "nobody@example.com", password: "wrong" },
    "POST /api/auth/accept-invitation": { token: "unknown", name: "X", password: "correct horse battery" },
    "PATCH /api/auth/me": { name: "Renamed" },
    "POST /api/auth/password": { password: "another long password", current: "correct horse battery" },
    "POST /api/tokens": { name: "new" },
    "POST /api/organizations": { name: `Third ${who}` },
    "POST /api/members": { email: `${who}@example.com`, role: "viewer" },
    "PATCH /api/members/:id": { role: "developer" },
    "POST /api/projects": { name: `Quay ${who}` },
    "POST /api/projects/ensure": { name: "Quay" },
    "PATCH /api/projects/:id": { name: "Renamed" },
    "POST /api/projects/:id/git/link": { owner: "acme", repo: "harbour" },
    "POST /api/projects/:id/auto-deploy": { enabled: false },
    "POST /api/projects/:id/previews": { enabled: false },
    "POST /api/projects/:id/deploy-key": { replace: true },
    "PATCH /api/projects/:id/env": { upserts: [{ key: "A", value: "b" }] },
    "POST /api/projects/folder/session": {},
    "POST /api/domains": { projectId: ids.project, hostname: `${who}.example.com` },
    "POST /api/servers": { ...SERVER, name: `For ${who}` },
    "PATCH /api/servers/:id": { name: "Renamed" },
    "POST /api/migration/scan": { serverId: ids.server },
    "POST /api/migration/adopt": { serverId: ids.server, projectName: `Adopted ${who}`, serviceNames: ["web"] },
    "POST /api/backup-destinations": { ...DESTINATION, name: `For ${who}` },
    "POST /api/backup-destinations/preflight": DESTINATION,
    "PATCH /api/backup-destinations/:id": { name: "Renamed" },
    "POST /api/deployments": { projectId: ids.project },
    "POST /api/deployments/prepare": { source: "githost", owner: "acme", repo: "harbour" },
    "POST /api/deployments/ssl/status": { domain: "harbour-two.localhost" },
    "POST /api/deployments/ssl/renew": { domain: CUSTOM_DOMAIN },
    "POST /api/deployments/build/access": { projectId: ids.project },
    "POST /api/deployments/:id/build/respond": { promptId: PROMPT_ID, action: "approve" },
    "POST /api/githost/connect/redirect": { state: "unknown" },
    "POST /api/githost/repos": { name: `new-${who}`, owner: "acme" },
    "DELETE /api/githost/repos/:owner/:repo/webhooks": { hookId: ids.hook },
    "PUT /api/cloud/link": { url: "https://cloud.example.com", token: "slp_x" },
  };
  const filled = fillPath(path, ids);
  if (path.includes("/upload/")) return { path: filled, call: { raw: archive() } };
  const body = bodies[`${method} ${path}`];
  return { path: filled, call: body === undefined ? {} : { body } };
}

/** Fills a route's path with the ids of existing resources. */
export function fillPath(path: string, ids: Furniture): string {
  const kinds: [RegExp, string][] = [
    [/deployments\/:id\/(?:stream|redeploy|rollback|pin|restart|info|usage|logs)$/, ids.released],
    [/deployments\/:id\/promote$/, ids.preview],
    [/deployments\/:id\/cancel$/, ids.cancellable],
    [/deployments\/:id\/build\/respond$/, ids.asking],
    [/deployments\/:id\/build$/, ids.queued],
    [/deployments/, ids.failed],
    [/tokens/, ids.token],
    [/members/, ids.member],
    [/domains/, ids.domain],
    [/servers/, ids.server],
    [/backup-destinations/, ids.destination],
    [/folder\/sessions/, ids.upload],
    [/projects/, ids.project],
  ];
  const id = kinds.find(([pattern]) => pattern.test(path))?.[1] ?? "";
  const named = path.replace(":owner", "acme").replace(":repo", "harbour").replace(":org", "acme");
  return named
    .replace(":sessionId", path.includes("/scan/") ? ids.scanned : ids.upload)
    .replace(":id", id)
    .replace(":host", HOST_KEY.host);
}
