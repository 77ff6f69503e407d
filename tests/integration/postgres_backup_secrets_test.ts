import { expect, test } from "bun:test";
import { newKeyText } from "../../adapters/crypto/keyring.ts";
import type { PostgresWorld } from "../../adapters/postgres/postgres_world.ts";
import { bindCredentials } from "../../domain/backups/credential_target.ts";
import { type BackupDestination, type DestinationCredentials, flagsOf } from "../../domain/backups/destination.ts";
import { newId } from "../../domain/id.ts";
import { Secret } from "../../domain/secret.ts";
import { migratedDatabase, openStores, vaultOf } from "../support/database/postgres_stores.ts";
import { anOrganization, START } from "../support/database/store_builders.ts";

const CREDENTIALS: DestinationCredentials = {
  accessKeyId: new Secret("canary id"),
  secretAccessKey: new Secret("canary secret"),
  sftpPassword: new Secret("canary password"),
  sftpPrivateKey: new Secret("canary key"),
  sftpKeyPassphrase: new Secret("canary phrase"),
};
const UNREADABLE = { name: "Failure", kind: "unavailable", code: "secret_unreadable" };

async function stored(world: PostgresWorld): Promise<BackupDestination> {
  const destination: BackupDestination = {
    id: newId("bkd"),
    organizationId: (await anOrganization(world)).id,
    name: "Nightly",
    kind: "s3_compatible",
    endpoint: null,
    region: null,
    bucket: "backups",
    forcePathStyle: false,
    pathPrefix: null,
    sshHost: null,
    sshPort: null,
    sshUser: null,
    sshHostKey: null,
    serverId: null,
    ...flagsOf(CREDENTIALS),
    credentialTargets: bindCredentials(CREDENTIALS, "Amazon S3"),
    isDefault: false,
    lastVerifiedAt: null,
    lastVerifyError: null,
    createdAt: START,
    updatedAt: START,
    revision: 1,
    leftProbes: [],
  };
  await world.backupDestinations.create(destination, CREDENTIALS);
  return destination;
}

async function revealed(world: PostgresWorld, destination: BackupDestination) {
  const credentials = await world.backupDestinations.credentials(destination.organizationId, destination);
  return Object.values(credentials ?? {}).map((secret) => secret?.reveal());
}

test("credentials of destinations move to a new key, and are read with it alone", async () => {
  await using database = await migratedDatabase();
  const [former, current] = [newKeyText(), newKeyText()];
  const before = await openStores({ url: database.url, vault: await vaultOf(former) });
  const destination = await stored(before);
  await before[Symbol.asyncDispose]();
  const vault = await vaultOf(current, former);
  const both = await openStores({ url: database.url, vault });
  expect(await revealed(both, destination)).toHaveLength(5);
  while ((await both.sealedRows.reseal(2)) > 0);
  expect(await both.sealedRows.countByKey()).toEqual(new Map([[vault.keyId(), 5]]));
  await both[Symbol.asyncDispose]();
  await using after = await openStores({ url: database.url, vault: await vaultOf(current) });
  expect(await revealed(after, destination)).toEqual(Object.values(CREDENTIALS).map((secret) => secret!.reveal()));
});

test.each([
  ["another field", "sealed_access_key_id = sealed_secret_access_key"],
  ["a changed text", "sealed_sftp_password = sealed_sftp_password || 'x'"],
  ["a plain text", "sealed_sftp_key_passphrase = 'canary phrase'"],
])("%s is not read, and not treated as absent", async (_, change) => {
  await using database = await migratedDatabase();
  await using world = await openStores({ url: database.url });
  const destination = await stored(world);
  await world.database.sql.unsafe(`update backup_destinations set ${change}`);
  await expect(revealed(world, destination)).rejects.toMatchObject(UNREADABLE);
});
