import type { Deployment } from "../../../domain/deployments/deployment.ts";
import type { NewEvent } from "../../../domain/deployments/deployment_event.ts";
import type { DomainName } from "../../../domain/domains/domain_name.ts";
import { newId } from "../../../domain/id.ts";
import type { AccessToken, Invitation, Organization, User } from "../../../domain/identity/identity.ts";
import type { Project } from "../../../domain/projects/project.ts";
import type { ServiceSet } from "../../../domain/services/service_set.ts";
import { PLAIN_CONTAINER, type ServiceSpec } from "../../../domain/services/service_spec.ts";
import { fingerprint, randomText } from "../../../domain/identity/token.ts";
import type { StoreWorld } from "../../contracts/store_world.ts";

/** The time at which tests start. */
export const START = new Date("2026-03-01T10:00:00.000Z");

/** A time some minutes after `START`. */
export function minutes(count: number): Date {
  return new Date(START.getTime() + count * 60_000);
}

/** A unique label. */
export function uniqueLabel(): string {
  return newId("org").slice(4);
}

/** A unique fingerprint. */
export async function uniqueFingerprint(): Promise<string> {
  return fingerprint(randomText());
}

/** The first owner, created if necessary. */
export async function founderOf({ installation }: Pick<StoreWorld, "installation">): Promise<User> {
  const known = await installation.founder();
  if (known) return known;
  await installation.claim(await firstOwner());
  return (await installation.founder())!;
}

/** A first owner as `installation.claim` accepts it. */
export async function firstOwner() {
  const label = uniqueLabel();
  const organization = organizationOf({ slug: `first-${label}` });
  const user = {
    id: newId("usr", minutes(0)),
    email: `first-${label}@example.com`,
    name: "First owner",
    founder: true,
    hasPassword: false,
    createdAt: minutes(0),
  };
  const token = tokenOf({ organizationId: organization.id, userId: user.id });
  return { organization, user, token, tokenFingerprint: await uniqueFingerprint() };
}

export function organizationOf(overrides: Partial<Organization> = {}): Organization {
  const createdAt = overrides.createdAt ?? minutes(0);
  return { id: newId("org", createdAt), name: "Acme", slug: `acme-${uniqueLabel()}`, createdAt, ...overrides };
}

/** Stores an organization of the first owner. */
export async function anOrganization(
  world: Pick<StoreWorld, "installation" | "organizations">,
  overrides: Partial<Organization> = {},
): Promise<Organization> {
  const organization = organizationOf(overrides);
  await world.organizations.create(organization, (await founderOf(world)).id);
  return organization;
}

export function invitationOf(
  overrides: Partial<Invitation> & Pick<Invitation, "organizationId" | "invitedBy">,
): Invitation {
  const createdAt = overrides.createdAt ?? minutes(0);
  return {
    id: newId("inv", createdAt),
    email: `${uniqueLabel()}@example.com`,
    role: "developer",
    grants: [],
    createdAt,
    expiresAt: new Date(createdAt.getTime() + 7 * 24 * 3_600_000),
    ...overrides,
  };
}

/** Adds a new user to an organization as a member; resolves to the user's id. */
export async function aMember(
  world: Pick<StoreWorld, "installation" | "invitations">,
  organizationId: string,
  overrides: Partial<Invitation> & { readonly userId?: string; readonly at?: Date; readonly name?: string } = {},
): Promise<string> {
  const { userId = newId("usr", minutes(0)), at = minutes(0), name = "Member", ...rest } = overrides;
  const invitation = invitationOf({ organizationId, invitedBy: (await founderOf(world)).id, ...rest });
  await world.invitations.create(invitation, await uniqueFingerprint());
  await world.invitations.accept(invitation.id, { kind: "new", userId, name, passwordHash: "hash" }, at);
  return userId;
}

/** Adds an existing user to another organization. */
export async function joins(
  world: Pick<StoreWorld, "installation" | "invitations">,
  userId: string,
  place: { readonly organizationId: string; readonly at: Date } & Partial<Invitation>,
): Promise<void> {
  const { at, ...rest } = place;
  const invitation = invitationOf({ invitedBy: (await founderOf(world)).id, ...rest });
  await world.invitations.create(invitation, await uniqueFingerprint());
  await world.invitations.accept(invitation.id, { kind: "known", userId }, at);
}

export function tokenOf(overrides: Partial<AccessToken> & Pick<AccessToken, "organizationId" | "userId">): AccessToken {
  const createdAt = overrides.createdAt ?? minutes(0);
  return {
    id: newId("tok", createdAt),
    name: "Continuous integration",
    narrowing: null,
    link: false,
    createdAt,
    expiresAt: null,
    lastUsedAt: null,
    ...overrides,
  };
}

/** Stores a token; resolves to it with its fingerprint. */
export async function aToken(
  { tokens }: Pick<StoreWorld, "tokens">,
  overrides: Partial<AccessToken> & Pick<AccessToken, "organizationId" | "userId">,
): Promise<{ readonly token: AccessToken; readonly fingerprint: string }> {
  const token = tokenOf(overrides);
  const stored = await uniqueFingerprint();
  await tokens.create(token, stored);
  return { token, fingerprint: stored };
}

export function projectOf(overrides: Partial<Project> & Pick<Project, "organizationId">): Project {
  const createdAt = overrides.createdAt ?? minutes(0);
  const label = uniqueLabel();
  return {
    id: newId("prj", createdAt),
    name: "Shop",
    slug: `shop-${label}`,
    hostname: `shop-${label}.apps.example.com`,
    settings: {},
    location: "local",
    serverId: null,
    activeDeploymentId: null,
    createdAt,
    updatedAt: createdAt,
    ...overrides,
  };
}

export function domainOf(
  overrides: Partial<DomainName> & Pick<DomainName, "organizationId" | "projectId">,
): DomainName {
  const createdAt = overrides.createdAt ?? minutes(0);
  return {
    id: newId("dom", createdAt),
    hostname: `www-${uniqueLabel()}.example.org`,
    type: "custom",
    proof: randomText(),
    verifiedAt: null,
    createdAt,
    ...overrides,
  };
}

/** The free domain name that is stored with a project. */
export function freeNameOf({ id, organizationId, hostname, createdAt }: Project): DomainName {
  return domainOf({ organizationId, projectId: id, hostname, type: "free", verifiedAt: createdAt, createdAt });
}

/** Stores a project with its free domain name. */
export async function aProject(
  { projects }: Pick<StoreWorld, "projects">,
  overrides: Partial<Project> & Pick<Project, "organizationId">,
): Promise<Project> {
  const project = projectOf(overrides);
  const outcome = await projects.create(project, freeNameOf(project));
  if (outcome !== "created") throw new Error(`Cannot set the test up: ${outcome}`);
  return project;
}

/** Stores a project in a new organization; resolves to the ids of both, which other builders take. */
export async function aPlace(
  world: Pick<StoreWorld, "installation" | "organizations" | "projects">,
  overrides: Partial<Project> = {},
): Promise<{ readonly organizationId: string; readonly projectId: string }> {
  const { id: organizationId } = await anOrganization(world);
  const { id: projectId } = await aProject(world, { ...overrides, organizationId });
  return { organizationId, projectId };
}

export function deploymentOf(
  overrides: Partial<Deployment> & Pick<Deployment, "organizationId" | "projectId">,
): Deployment {
  const createdAt = overrides.createdAt ?? minutes(0);
  return {
    id: newId("dep", createdAt),
    version: 0,
    status: "queued",
    decision: null,
    pendingDecision: null,
    replaces: null,
    pinned: false,
    trigger: "manual",
    environment: "production",
    source: { kind: "git", url: "https://example.com/shop.git", branch: "main", commit: null },
    // A copy, because some tests mutate it.
    plan: structuredClone(NO_PLAN),
    branch: "main",
    commitSha: null,
    commitMessage: null,
    framework: null,
    urls: [],
    services: [],
    steps: [],
    prompt: null,
    requireApproval: false,
    waitingFor: null,
    error: null,
    held: false,
    cancelRequested: false,
    attempts: 0,
    secretKeys: [],
    artifactOf: null,
    artifactAvailable: false,
    image: null,
    buildTag: null,
    rollbackOf: null,
    redeployOf: null,
    createdAt,
    queuedAt: createdAt,
    startedAt: null,
    builtAt: null,
    finishedAt: null,
    ...overrides,
  };
}

const NO_PLAN: Deployment["plan"] = {
  framework: null,
  packageManager: null,
  installCommand: null,
  buildCommand: null,
  startCommand: null,
  outputDirectory: null,
  rootDirectory: null,
  dockerfile: null,
  buildTarget: null,
  buildArgs: {},
  port: null,
  projectType: null,
  healthPath: null,
  runtime: null,
  publicEndpoints: [],
};

/** Stores a deployment, by default of a new project in a new organization. */
export async function aDeployment(
  world: Pick<StoreWorld, "deployments" | "installation" | "organizations" | "projects">,
  overrides: Partial<Deployment> = {},
  events: readonly NewEvent[] = [],
): Promise<Deployment> {
  const organizationId = overrides.organizationId ?? (await anOrganization(world)).id;
  const projectId = overrides.projectId ?? (await aProject(world, { organizationId })).id;
  const deployment = deploymentOf({ ...overrides, organizationId, projectId });
  return world.deployments.create(deployment, { environment: new Map(), events });
}

/** The composition of a deployment of some services, each of which runs an image. */
export function serviceSetOf(...names: readonly string[]): ServiceSet {
  const wanted = names.map((name) => ({ spec: serviceOf(name), image: `sha256:${name}`, madeFrom: null }));
  return { given: names.map(serviceOf), wanted, instead: null };
}

function serviceOf(name: string): ServiceSpec {
  return {
    name,
    from: { kind: "image", reference: `example.com/${name}:1`, pull: "missing" },
    environment: { NAME: name },
    ports: [80],
    dependsOn: [],
    oneShot: false,
    container: structuredClone(PLAIN_CONTAINER),
  };
}

/** A log event. */
export function logLine(message: string, overrides: Partial<NewEvent & { type: "log" }> = {}): NewEvent {
  const at = minutes(1);
  return { type: "log", at, level: "info", step: "build", service: null, stream: "stdout", message, ...overrides };
}
