import { randomBytes } from "node:crypto";
import type { S3Client } from "@aws-sdk/client-s3";
import { GenericContainer, Wait } from "testcontainers";
import { Secret } from "../../domain/secret.ts";
import type { BucketTarget } from "../../ports/object_storages.ts";

/** What a caller without all rights may do to the objects of a bucket, as policies name it. */
export type Right = (typeof RIGHTS)[number];

const RIGHTS = ["s3:PutObject", "s3:GetObject", "s3:DeleteObject", "s3:ListBucket"] as const;

/** A real S3 store in a container: Ceph's RADOS gateway. */
export interface CephContainer extends AsyncDisposable {
  /** `http://host:port`. */
  readonly endpoint: string;
  /** Makes a bucket of its own and gives the way to it, with all rights. */
  bucket(): Promise<BucketTarget>;
  /** The way to a bucket for somebody who has only these rights. */
  limited(target: BucketTarget, rights: readonly Right[]): Promise<BucketTarget>;
  /** A client of the SDK's own making for a bucket. */
  client(target: BucketTarget): Promise<S3Client>;
  /** Runs a program inside and gives what it printed. */
  exec(argv: string[]): Promise<string>;
  pause(): Promise<void>;
  unpause(): Promise<void>;
}

/** Builds the image when it is not there yet, and starts a store from it; disposing removes the container. */
export async function startCeph(): Promise<CephContainer> {
  process.env["TESTCONTAINERS_RYUK_DISABLED"] = "true";
  const sdk = await import("@aws-sdk/client-s3");
  const context = new URL("../images/ceph", import.meta.url).pathname;
  const image = await GenericContainer.fromDockerfile(context).build("slipway-test-ceph:latest", {
    deleteOnExit: false,
  });
  const [accessKeyId, secretAccessKey] = [randomKey(), randomKey()];
  const container = await image
    .withLabels({ "slipway.test": "1" })
    .withEnvironment({ S3_KEY: accessKeyId, S3_SECRET: secretAccessKey })
    .withExposedPorts(9000)
    .withWaitStrategy(Wait.forHttp("/", 9000).forStatusCode(200))
    .start();
  const endpoint = `http://${container.getHost()}:${container.getMappedPort(9000)}`;
  const root = { accessKeyId: new Secret(accessKeyId), secretAccessKey: new Secret(secretAccessKey) };
  const client = async (target: BucketTarget) =>
    new sdk.S3Client({
      endpoint,
      region: "us-east-1",
      forcePathStyle: true,
      credentials: {
        accessKeyId: target.accessKeyId.reveal(),
        secretAccessKey: target.secretAccessKey.reveal(),
      },
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
    });
  let names = 0;
  const docker = async (action: "pause" | "unpause") => {
    await Bun.spawn(["docker", action, container.getId()], { stdout: "ignore" }).exited;
  };
  return {
    endpoint,
    client,
    async bucket() {
      const bucket = `bucket-${names++}`;
      const target: BucketTarget = { kind: "bucket", endpoint, region: null, bucket, forcePathStyle: true, ...root };
      await (await client(target)).send(new sdk.CreateBucketCommand({ Bucket: bucket }));
      return target;
    },
    async limited(target, rights) {
      const user = `limited-${names++}`;
      const [key, secret] = [randomKey(), randomKey()];
      const words = ["user", "create", `--uid=${user}`, "--display-name=limited", `--access-key=${key}`];
      const { exitCode, output } = await container.exec(["radosgw-admin", ...words, `--secret-key=${secret}`]);
      if (exitCode !== 0) throw new Error(output);
      const Policy = policy(target.bucket, user, rights);
      await (await client(target)).send(new sdk.PutBucketPolicyCommand({ Bucket: target.bucket, Policy }));
      return { ...target, accessKeyId: new Secret(key), secretAccessKey: new Secret(secret) };
    },
    async exec(argv) {
      const { output, exitCode } = await container.exec(argv);
      if (exitCode !== 0) throw new Error(`${argv[0]} ended with ${exitCode}: ${output}`);
      return output;
    },
    pause: () => docker("pause"),
    unpause: () => docker("unpause"),
    async [Symbol.asyncDispose]() {
      await container.stop({ remove: true, removeVolumes: true });
    },
  };
}

function policy(bucket: string, user: string, rights: readonly Right[]): string {
  const Principal = { AWS: [`arn:aws:iam:::user/${user}`] };
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  // Whoever wrote an object may do everything to it here, unless it is denied.
  const denied = RIGHTS.filter((right) => !rights.includes(right));
  const Statement = [
    { Effect: "Allow", Principal, Action: rights, Resource },
    ...(denied.length > 0 ? [{ Effect: "Deny", Principal, Action: denied, Resource }] : []),
  ];
  return JSON.stringify({ Version: "2012-10-17", Statement });
}

function randomKey(): string {
  return `canary${randomBytes(12).toString("hex")}`;
}
