import { describe, expect, test } from "bun:test";
import { bindCredentials } from "../../domain/backups/credential_target.ts";
import {
  type BackupDestination,
  type DestinationCredentials,
  type DestinationSettings,
  flagsOf,
} from "../../domain/backups/destination.ts";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import type { Server } from "../../domain/servers/server.ts";
import type { DestinationChange } from "../../ports/backups/backup_destinations.ts";
import { expectPages, newestFirst, SHUFFLED_MINUTES } from "../support/expect_pages.ts";
import { oddTexts } from "../support/inputs/odd_texts.ts";
import { sharedWorld } from "../support/shared_world.ts";
import { anOrganization, minutes, START, uniqueLabel } from "../support/database/store_builders.ts";
import type { WorldOf } from "./store_world.ts";

const ALL = { page: 1, perPage: 100 };
const KEY = `SHA256:${"A".repeat(43)}`;

const NONE: DestinationCredentials = {
  accessKeyId: null,
  secretAccessKey: null,
  sftpPassword: null,
  sftpPrivateKey: null,
  sftpKeyPassphrase: null,
};
const FULL: DestinationCredentials = {
  accessKeyId: new Secret("AKIA canary"),
  secretAccessKey: new Secret(oddTexts.join("|")),
  sftpPassword: new Secret("canary password"),
  sftpPrivateKey: new Secret(`-----BEGIN KEY-----\n${"k".repeat(10_000)}\n-----END KEY-----\n`),
  sftpKeyPassphrase: new Secret("canary phrase"),
};
const SETTINGS: DestinationSettings = {
  endpoint: "https://s3.example.com",
  region: "eu-central-1",
  bucket: "backups",
  forcePathStyle: true,
  pathPrefix: "a/b",
  sshHost: "storage.example.com",
  sshPort: 2222,
  sshUser: "backup",
  sshHostKey: null,
  serverId: null,
};

function revealed(credentials: DestinationCredentials | undefined) {
  return (
    credentials && Object.fromEntries(Object.entries(credentials).map(([field, secret]) => [field, secret?.reveal()]))
  );
}

function changeOf(destination: BackupDestination, change: Partial<DestinationChange> = {}): DestinationChange {
  const { name, credentialTargets } = destination;
  return { name, settings: SETTINGS, credentials: {}, credentialTargets, moved: false, at: minutes(5), ...change };
}

/** Contract tests for `BackupDestinations` adapters. */
export function backupDestinationsContract(
  name: string,
  open: () => Promise<WorldOf<"backupDestinations" | "servers" | "installation" | "organizations">>,
) {
  describe(`BackupDestinations contract: ${name}`, () => {
    const world = sharedWorld(open);
    const stores = () => world().backupDestinations;
    const anOrganizationId = async () => (await anOrganization(world())).id;

    async function aDestination(
      overrides: Partial<BackupDestination> = {},
      credentials = NONE,
    ): Promise<BackupDestination> {
      const createdAt = overrides.createdAt ?? START;
      const destination: BackupDestination = {
        id: newId("bkd", createdAt),
        name: `Destination ${uniqueLabel()}`,
        kind: "s3_compatible",
        ...SETTINGS,
        ...flagsOf(credentials),
        credentialTargets: bindCredentials(credentials, "https://s3.example.com"),
        isDefault: false,
        lastVerifiedAt: null,
        lastVerifyError: null,
        createdAt,
        updatedAt: createdAt,
        revision: 1,
        leftProbes: [],
        ...overrides,
        organizationId: overrides.organizationId ?? (await anOrganizationId()),
      };
      await stores().create(destination, credentials);
      return destination;
    }

    test.each(oddTexts)("find() returns a destination named %j", async (text) => {
      const destination = await aDestination({
        name: text,
        lastVerifiedAt: minutes(1),
        lastVerifyError: text,
        leftProbes: [text, "x"],
        isDefault: true,
        sshHostKey: KEY,
      });
      expect(await stores().find(destination.organizationId, destination.id)).toEqual(destination);
    });

    test.each(["s3_compatible", "sftp", "platform_server", "local"] as const)(
      "keeps the kind %s and absent settings",
      async (kind) => {
        const empty = Object.fromEntries(Object.keys(SETTINGS).map((field) => [field, null]));
        const destination = await aDestination({ kind, ...empty });
        expect(await stores().find(destination.organizationId, destination.id)).toEqual(destination);
      },
    );

    test("credentials() returns secrets unchanged; find() and list() only report that they exist", async () => {
      const destination = await aDestination({}, FULL);
      const { organizationId, id } = destination;
      expect(revealed(await stores().credentials(organizationId, destination))).toEqual(revealed(FULL)!);
      expect(await stores().find(organizationId, id)).toEqual(destination);
      expect((await stores().list(organizationId, {}, ALL)).items).toEqual([destination]);
      const bare = await aDestination();
      expect(await stores().credentials(bare.organizationId, bare)).toEqual(NONE);
    });

    test("no method reaches a destination of another organization, nor an unknown one", async () => {
      const destination = await aDestination({}, FULL);
      const other = await anOrganizationId();
      for (const [organizationId, id] of [
        [other, destination.id],
        [destination.organizationId, newId("bkd")],
      ] as const) {
        const version = { id, revision: 1, sshHostKey: null };
        expect(await stores().find(organizationId, id)).toBeUndefined();
        expect(await stores().credentials(organizationId, version)).toBeUndefined();
        const change = changeOf(destination, { name: "Stolen", credentials: { accessKeyId: null }, isDefault: true });
        expect(await stores().change(organizationId, version, change)).toBeUndefined();
        await stores().checked(organizationId, version, { at: START, error: "x", hostKey: KEY, leftProbes: ["x"] });
        expect(await stores().remove(organizationId, id)).toBe(false);
      }
      expect(await stores().list(other, { ids: [destination.id] }, ALL)).toEqual({ items: [], total: 0 });
      expect(await stores().find(destination.organizationId, destination.id)).toEqual(destination);
      const credentials = await stores().credentials(destination.organizationId, destination);
      expect(revealed(credentials)).toEqual(revealed(FULL)!);
    });

    test("list() pages through the destinations of one organization, newest first, and can filter by id", async () => {
      const organizationId = await anOrganizationId();
      const made: BackupDestination[] = [];
      for (const minute of SHUFFLED_MINUTES)
        made.push(await aDestination({ organizationId, createdAt: minutes(minute) }));
      await aDestination();
      const sorted = newestFirst(made, { at: ({ createdAt }) => createdAt, id: ({ id }) => id }).map(({ id }) => id);
      const list = (ids?: string[]) => (page: typeof ALL) => stores().list(organizationId, ids ? { ids } : {}, page);
      await expectPages(list(), sorted, ({ id }) => id);
      const some = [sorted[2]!, sorted[0]!, (await aDestination()).id];
      await expectPages(list(some), [sorted[0]!, sorted[2]!], ({ id }) => id);
    });

    test("a name belongs to one destination, ignoring case, also under concurrent writes", async () => {
      const { organizationId } = await aDestination({ name: "Nightly Ä" });
      const taken = { kind: "invalid", code: "name_taken", details: [{ path: "name" }] };
      await expect(aDestination({ organizationId, name: "NIGHTLY ä" })).rejects.toMatchObject(taken);
      const other = await aDestination({ organizationId, name: "Other" });
      const stolen = stores().change(organizationId, other, changeOf(other, { name: "nightly Ä" }));
      await expect(stolen).rejects.toMatchObject(taken);
      expect((await stores().change(organizationId, other, changeOf(other, { name: "OTHER" })))?.name).toBe("OTHER");
      await aDestination({ name: "nightly ä" });
      const raced = await Promise.allSettled(
        Array.from({ length: 8 }, (_, index) => aDestination({ organizationId, name: index % 2 ? "race" : "Race" })),
      );
      expect(raced.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });

    test("change() changes all given fields, keeps absent credentials and clears those that are null", async () => {
      const destination = await aDestination({ lastVerifiedAt: minutes(1), lastVerifyError: "x" }, FULL);
      const { organizationId, id } = destination;
      const settings = { ...SETTINGS, bucket: "other", pathPrefix: null, sshHostKey: KEY };
      const credentialTargets = { ...destination.credentialTargets, secretAccessKey: null, sftpPassword: "a:22" };
      const change = changeOf(destination, {
        name: "Renamed",
        settings,
        credentials: { secretAccessKey: null, sftpPassword: new Secret("new") },
        credentialTargets,
      });
      const changed = await stores().change(organizationId, destination, change);
      expect(changed).toEqual({
        ...destination,
        ...settings,
        name: "Renamed",
        credentialTargets,
        hasSecretAccessKey: false,
        updatedAt: minutes(5),
        revision: 2,
      });
      expect(await stores().find(organizationId, id)).toEqual(changed!);
      const kept = { ...revealed(FULL), secretAccessKey: undefined, sftpPassword: "new" };
      expect(revealed(await stores().credentials(organizationId, changed!))).toEqual(kept);
      expect(await stores().credentials(organizationId, destination)).toBeUndefined();
      const moved = await stores().change(organizationId, changed!, changeOf(changed!, { moved: true }));
      expect(moved).toMatchObject({ lastVerifiedAt: null, lastVerifyError: null, revision: 3 });
    });

    test("change() does nothing when the destination was changed since it was read", async () => {
      const destination = await aDestination();
      const names = ["first", "second", "third", "fourth"];
      const changes = await Promise.all(
        names.map((each) =>
          stores().change(destination.organizationId, destination, changeOf(destination, { name: each })),
        ),
      );
      const won = changes.filter((changed) => changed !== undefined);
      expect(won).toHaveLength(1);
      expect(await stores().find(destination.organizationId, destination.id)).toEqual(won[0]!);
    });

    test("change() does nothing when the host key was recorded since the destination was read", async () => {
      const destination = await aDestination();
      const { organizationId, id } = destination;
      const check = { at: minutes(1), error: null, hostKey: KEY, leftProbes: [] };
      await stores().checked(organizationId, destination, check);
      expect(await stores().change(organizationId, destination, changeOf(destination))).toBeUndefined();
      const pinned = await stores().find(organizationId, id);
      expect(pinned).toMatchObject({ sshHostKey: KEY, revision: 1 });
      const settings = { ...SETTINGS, sshHostKey: null };
      const changed = await stores().change(organizationId, pinned!, changeOf(pinned!, { settings }));
      expect(changed).toMatchObject({ sshHostKey: null, revision: 2 });
    });

    test("at most one destination is the default, also under concurrent writes", async () => {
      const organizationId = await anOrganizationId();
      const defaults = async () =>
        (await stores().list(organizationId, {}, ALL)).items.filter(({ isDefault }) => isDefault).map(({ id }) => id);
      const first = await aDestination({ organizationId, isDefault: true });
      const foreign = await aDestination({ isDefault: true });
      const second = await aDestination({ organizationId, isDefault: true });
      expect(await defaults()).toEqual([second.id]);
      const back = await stores().change(organizationId, first, changeOf(first, { isDefault: true }));
      expect(back?.isDefault).toBe(true);
      expect(await defaults()).toEqual([first.id]);
      const kept = await stores().change(organizationId, back!, changeOf(first));
      expect(kept?.isDefault).toBe(true);
      const off = await stores().change(organizationId, second, changeOf(second, { isDefault: false }));
      expect(off?.isDefault).toBe(false);
      expect(await defaults()).toEqual([first.id]);
      await Promise.all(Array.from({ length: 8 }, () => aDestination({ organizationId, isDefault: true })));
      const [chosen, ...others] = await defaults();
      expect(others).toEqual([]);
      expect(await stores().remove(organizationId, chosen!)).toBe(true);
      expect(await defaults()).toEqual([]);
      expect((await stores().find(foreign.organizationId, foreign.id))?.isDefault).toBe(true);
    });

    test("checked() records success and failure, pins the first host key, and skips later revisions", async () => {
      const destination = await aDestination();
      const { organizationId, id } = destination;
      const see = () => stores().find(organizationId, id);
      await stores().checked(organizationId, destination, {
        at: minutes(1),
        error: null,
        hostKey: KEY,
        leftProbes: [],
      });
      expect(await see()).toMatchObject({ lastVerifiedAt: minutes(1), lastVerifyError: null, sshHostKey: KEY });
      const other = `SHA256:${"B".repeat(42)}A`;
      const failed = { at: minutes(2), error: "write: no", hostKey: other, leftProbes: ["a", "b"] };
      await stores().checked(organizationId, destination, failed);
      expect(await see()).toMatchObject({
        lastVerifiedAt: minutes(1),
        lastVerifyError: "write: no",
        sshHostKey: KEY,
        leftProbes: ["a", "b"],
        updatedAt: destination.updatedAt,
        revision: 1,
      });
      const pinned = { ...destination, sshHostKey: KEY };
      const changed = await stores().change(organizationId, pinned, changeOf(pinned, { moved: true }));
      await stores().checked(organizationId, destination, {
        at: minutes(3),
        error: null,
        hostKey: other,
        leftProbes: [],
      });
      expect(await see()).toEqual(changed!);
    });

    test("a destination outlives its server and then refers to none", async () => {
      const organizationId = await anOrganizationId();
      const server: Server = {
        id: newId("srv"),
        organizationId,
        name: uniqueLabel(),
        sshHost: "server.example.com",
        sshPort: 22,
        sshUser: "deploy",
        hostKey: null,
        hasSshPassword: false,
        hasSshPrivateKey: false,
        hasSshKeyPassphrase: false,
        lastCheckedAt: null,
        lastCheckError: null,
        createdAt: START,
        updatedAt: START,
      };
      await world().servers.create(server, { sshPassword: null, sshPrivateKey: null, sshKeyPassphrase: null });
      const { id } = await aDestination({ organizationId, kind: "platform_server", serverId: server.id });
      expect((await stores().find(organizationId, id))?.serverId).toBe(server.id);
      await world().servers.remove(organizationId, server.id);
      expect((await stores().find(organizationId, id))?.serverId).toBeNull();
    });
  });
}
