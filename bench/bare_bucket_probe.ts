import * as sdk from "@aws-sdk/client-s3";
import type { BucketTarget } from "../ports/backups/object_storages.ts";

const PROBE_BYTES = 16 * 1024;

/**
 * The requests of a preflight with the plain SDK: put, get, compare, delete, head, and list the leftovers of others.
 */
export async function bareBucketProbe({ endpoint, bucket, accessKeyId, secretAccessKey }: BucketTarget): Promise<void> {
  const client = new sdk.S3Client({
    endpoint: endpoint!,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() },
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
  });
  const at = { Bucket: bucket, Key: `bare-${crypto.randomUUID()}` };
  const bytes = crypto.getRandomValues(new Uint8Array(PROBE_BYTES));
  await client.send(new sdk.PutObjectCommand({ ...at, Body: bytes }));
  const { Body } = await client.send(new sdk.GetObjectCommand(at));
  if (Buffer.compare(await Body!.transformToByteArray(), bytes) !== 0) throw new Error("It came back changed");
  await client.send(new sdk.DeleteObjectCommand(at));
  const gone = await client.send(new sdk.HeadObjectCommand(at)).catch((error: Error) => error.name);
  if (gone !== "NotFound") throw new Error("It is still there");
  await Promise.all([
    client.send(new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: "bare-" })),
    client.send(new sdk.ListMultipartUploadsCommand({ Bucket: bucket, Prefix: "bare-" })),
    client.send(new sdk.ListMultipartUploadsCommand({ Bucket: bucket })),
  ]);
  client.destroy();
}
