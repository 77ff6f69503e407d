import { memoryWorld } from "../adapters/memory/memory_world.ts";
import { S3ObjectStorages } from "../adapters/s3/object_storages.ts";
import { SftpObjectStorages } from "../adapters/ssh/sftp/object_storages.ts";
import { openDestination } from "../application/backups/open_destination.ts";
import { runProbe } from "../application/backups/run_probe.ts";
import { type DestinationInput, readDraft } from "../domain/backups/destination_input.ts";
import type { ObjectStorages } from "../ports/backups/object_storages.ts";
import { bareBucketProbe } from "./bare_bucket_probe.ts";
import { bareSftpProbe } from "./bare_sftp_probe.ts";
import type { S3Server } from "../tests/support/peers/s3_server.ts";
import type { SshdContainer } from "../tests/support/peers/sshd_container.ts";
import { FAST_FOLDER } from "./real_stores.ts";
import { inRounds } from "./rounds.ts";
import type { Result } from "./run.ts";

const ROUNDS = 15;

/** A complete preflight of a bucket, compared with the same requests by the plain SDK. */
export async function preflightS3(s3: S3Server): Promise<Result> {
  const target = await s3.bucket();
  const input = { ...target, kind: "s3_compatible" };
  return await compare(new S3ObjectStorages() as ObjectStorages, input, () => bareBucketProbe(target));
}

/** A preflight of an SFTP server, from connect to disconnect, compared with the same requests by plain ssh2. */
export async function preflightSftp(sshd: SshdContainer): Promise<Result> {
  const target = { kind: "remote_folder", remote: sshd.bob, folder: FAST_FOLDER } as const;
  const { host, port, user, privateKey } = sshd.bob;
  const input = { kind: "sftp", sshHost: host, sshPort: port, sshUser: user, sftpPrivateKey: privateKey };
  const storages = new SftpObjectStorages();
  const inMemory: ObjectStorages = { open: (_target, options) => storages.open(target, options) };
  return await compare(inMemory, input, () => bareSftpProbe(target));
}

async function compare(
  objectStorages: ObjectStorages,
  input: DestinationInput,
  bare: () => Promise<void>,
): Promise<Result> {
  const world = memoryWorld();
  const localBackups = { mode: "self-hosted", allowed: false, root: undefined, dataFolder: "/data" } as const;
  const open = openDestination({ ...world, objectStorages, localBackups });
  const draft = await readDraft(input);
  const probe = runProbe(world);
  const whole = async () => {
    const { outcome } = await probe({
      open: (options) => open("org_1", draft, options),
      leftProbes: [],
      abandonedBefore: new Date(0),
    });
    if (!outcome.ok) throw new Error(outcome.reason);
  };
  for (let round = 0; round < 3; round++) await Promise.all([whole(), bare()]);
  const { ratio, ours, other, spread } = await inRounds(ROUNDS, {
    ours: () => timeOf(whole),
    other: () => timeOf(bare),
  });
  return { ratio, details: `slipway ${ours.toFixed(1)} ms, bare ${other.toFixed(1)} ms, ${spread}, at most 1.3` };
}

async function timeOf(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
