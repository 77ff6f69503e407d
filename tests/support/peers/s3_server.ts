import { createHmac, randomBytes } from "node:crypto";
import type { S3Client } from "@aws-sdk/client-s3";
import { Secret } from "../../../domain/secret.ts";
import type { BucketTarget } from "../../../ports/backups/object_storages.ts";
import { newKey, type S3ServerAddress, startS3Container } from "./s3_container.ts";

/** A permission on a bucket's objects, as bucket policies name it. */
export type Right = (typeof RIGHTS)[number];

const RIGHTS = ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:ListBucket"] as const;

/** The environment variable with the address, as JSON, of a server that all processes of a run share. */
const SHARED = "SLIPWAY_TEST_S3";

/** A real S3 server (Ceph's RADOS gateway), possibly shared with other tests. */
export interface S3Server extends S3ServerAddress, AsyncDisposable {
  /** Creates a bucket; resolves to a target with all permissions on it. */
  bucket(): Promise<BucketTarget>;
  /** Resolves to a target for a new user who has only these permissions on a bucket. */
  limited(target: BucketTarget, rights: readonly Right[]): Promise<BucketTarget>;
  /** An AWS SDK client for a bucket. */
  client(target: BucketTarget): Promise<S3Client>;
}

/** Opens the server that this run shares, or else a new one, with a separate user. */
export async function s3Server(): Promise<S3Server> {
  const shared = process.env[SHARED];
  await using undo = new AsyncDisposableStack();
  const address = shared === undefined ? undo.use(await startS3Container()) : readAddress(shared);
  const sdk = await import("@aws-sdk/client-s3");
  const { key: accessKeyId, secret: secretAccessKey } = await newUser(address);
  const own = { accessKeyId: new Secret(accessKeyId), secretAccessKey: new Secret(secretAccessKey) };
  const { url: endpoint, key, secret } = address;
  const client = async (target: BucketTarget) =>
    new sdk.S3Client({
      endpoint,
      region: "us-east-1",
      forcePathStyle: true,
      credentials: { accessKeyId: target.accessKeyId.reveal(), secretAccessKey: target.secretAccessKey.reveal() },
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
  const lifetime = undo.move();
  return {
    url: endpoint,
    key,
    secret,
    client,
    async bucket() {
      const bucket = `bucket-${randomBytes(8).toString("hex")}`;
      const target: BucketTarget = { kind: "bucket", endpoint, region: null, bucket, forcePathStyle: true, ...own };
      await (await client(target)).send(new sdk.CreateBucketCommand({ Bucket: bucket }));
      return target;
    },
    async limited(target, rights) {
      const user = await newUser(address);
      const Policy = policy(target.bucket, user.id, rights);
      await (await client(target)).send(new sdk.PutBucketPolicyCommand({ Bucket: target.bucket, Policy }));
      return { ...target, accessKeyId: new Secret(user.key), secretAccessKey: new Secret(user.secret) };
    },
    [Symbol.asyncDispose]: () => lifetime.disposeAsync(),
  };
}

/** A server that all processes of a run share. */
export interface SharedS3Server extends AsyncDisposable {
  /** The environment variables for a process that uses it. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Starts a server for processes to share. Disposal removes it. */
export async function sharedS3Server(): Promise<SharedS3Server> {
  const container = await startS3Container();
  const { url, key, secret } = container;
  return {
    environment: { [SHARED]: JSON.stringify({ url, key, secret }) },
    [Symbol.asyncDispose]: () => container[Symbol.asyncDispose](),
  };
}

function readAddress(text: string): S3ServerAddress {
  const { url, key, secret } = JSON.parse(text) as Partial<S3ServerAddress>;
  if (!url || !key || !secret) throw new Error(`Cannot use ${SHARED}: it has to hold JSON with url, key and secret`);
  return { url, key, secret };
}

/** Creates a user with its own keys through the server's admin API. */
async function newUser({ url, key, secret }: S3ServerAddress) {
  const user = { id: `user-${randomBytes(8).toString("hex")}`, key: newKey(), secret: newKey() };
  const query = new URLSearchParams({
    uid: user.id,
    "display-name": user.id,
    "access-key": user.key,
    "secret-key": user.secret,
  });
  const date = new Date().toUTCString();
  const signature = createHmac("sha1", secret).update(`PUT\n\n\n${date}\n/admin/user`).digest("base64");
  const answer = await fetch(`${url}/admin/user?${query}`, {
    method: "PUT",
    headers: { date, authorization: `AWS ${key}:${signature}` },
  });
  if (!answer.ok) throw new Error(`Cannot make a user of the S3 server: ${answer.status} ${await answer.text()}`);
  return user;
}

function policy(bucket: string, user: string, rights: readonly Right[]): string {
  const Principal = { AWS: [`arn:aws:iam:::user/${user}`] };
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  // Here the writer of an object may do everything to it unless the policy denies it.
  const denied = RIGHTS.filter((right) => !rights.includes(right));
  const Statement = [
    { Effect: "Allow", Principal, Action: rights, Resource },
    ...(denied.length > 0 ? [{ Effect: "Deny", Principal, Action: denied, Resource }] : []),
  ];
  return JSON.stringify({ Version: "2012-10-17", Statement });
}
