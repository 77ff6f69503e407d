import { newId } from "../../../domain/id.ts";
import type { UploadSession } from "../../../domain/projects/upload.ts";
import type { NewUploadSession } from "../../../ports/projects/upload_sessions.ts";
import type { StoreWorld } from "../../contracts/store_world.ts";
import { anOrganization, founderOf } from "./store_builders.ts";

const HOUR = 3_600_000;

/** A quota that no test fills. */
export const PLENTY = { perUser: 10_000, perOrganization: 10_000 };

/** What an upload turned out to be, larger than 32 bits can tell. */
export const RECEIVED = { bytes: 3 * 2 ** 40, sha256: "ab".repeat(32), files: 200_000 };

type UploadWorld = Pick<StoreWorld, "uploadSessions" | "installation" | "organizations">;

/** A session that nobody stored yet. */
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

/** A session without its times: those that are stored age with the clock of the store. */
export function timeless(session: UploadSession) {
  return { ...session, createdAt: null, expiresAt: null };
}

/** Stores a session of the first owner's, in an organization of its own unless one is given. */
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

/** A session as it is stored now. */
export async function storedSession(
  world: Pick<StoreWorld, "uploadSessions">,
  { organizationId, id }: UploadSession,
): Promise<UploadSession | undefined> {
  const found = await world.uploadSessions.find(organizationId, id);
  if (!found) return undefined;
  const { expired: _, ...session } = found;
  return session;
}
