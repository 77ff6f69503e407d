import { newId } from "../../../domain/id.ts";
import type { UploadSession } from "../../../domain/projects/upload.ts";
import type { NewUploadSession } from "../../../ports/projects/upload_sessions.ts";
import type { StoreWorld } from "../../contracts/store_world.ts";
import { anOrganization, founderOf } from "./store_builders.ts";

const HOUR = 3_600_000;

/** A quota that no test exceeds. */
export const PLENTY = { perUser: 10_000, perOrganization: 10_000 };

/** The result of an upload, with a size that exceeds 32 bits. */
export const RECEIVED = { bytes: 3 * 2 ** 40, sha256: "ab".repeat(32), files: 200_000 };

type UploadWorld = Pick<StoreWorld, "uploadSessions" | "installation" | "organizations">;

/** A session that is not stored yet. */
export function sessionOf(
  overrides: Partial<NewUploadSession> & Pick<NewUploadSession, "organizationId" | "userId">,
): NewUploadSession {
  return {
    id: newId("upl"),
    name: null,
    mode: "local",
    state: "open",
    bytes: null,
    sha256: null,
    files: null,
    ...overrides,
  };
}

/** A session without its times: stored ones change with the store's clock. */
export function timeless(session: UploadSession) {
  return { ...session, createdAt: null, expiresAt: null };
}

/** Stores a session of the first owner, by default in a new organization. */
export async function aSession(
  world: UploadWorld,
  overrides: Partial<NewUploadSession> = {},
  lifetimeMs = HOUR,
): Promise<UploadSession> {
  const organizationId = overrides.organizationId ?? (await anOrganization(world)).id;
  const session = sessionOf({ userId: (await founderOf(world)).id, ...overrides, organizationId });
  const creation = await world.uploadSessions.create(session, { lifetimeMs, quota: PLENTY });
  if (creation.outcome !== "created") throw new Error(`Cannot set the test up: ${creation.outcome}`);
  return creation.session;
}

/** The session as stored now. */
export async function storedSession(
  world: Pick<StoreWorld, "uploadSessions">,
  { organizationId, id }: UploadSession,
): Promise<UploadSession | undefined> {
  const found = await world.uploadSessions.find(organizationId, id);
  if (!found) return undefined;
  const { expired: _, ...session } = found;
  return session;
}
