import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { S3ObjectStorages } from "../../adapters/s3/object_storages.ts";
import type { BucketTarget } from "../../ports/object_storages.ts";
import { objectStorageContract } from "../contracts/object_storage.ts";
import { textBody, textOf } from "../support/bodies.ts";
import { type CephContainer, startCeph } from "../support/ceph_container.ts";

const MIB = 1024 * 1024;
let ceph: CephContainer;

beforeAll(async () => {
  ceph = await startCeph();
}, 300_000);
afterAll(async () => {
  await ceph?.[Symbol.asyncDispose]();
});

objectStorageContract(
  "S3 on Ceph",
  async () => {
    const sdk = await import("@aws-sdk/client-s3");
    const target = await ceph.bucket();
    const client = await ceph.client(target);
    const Bucket = target.bucket;
    const storage = await new S3ObjectStorages().open(target);
    return {
      storage,
      async raw() {
        const { Contents = [] } = await client.send(new sdk.ListObjectsV2Command({ Bucket }));
        const { Uploads = [] } = await client.send(new sdk.ListMultipartUploadsCommand({ Bucket }));
        return [...Contents, ...Uploads].map(({ Key = "" }) => Key);
      },
      async abandon(Key) {
        const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand({ Bucket, Key }));
        await client.send(
          new sdk.UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: new Uint8Array(10) }),
        );
      },
      async [Symbol.asyncDispose]() {
        await storage[Symbol.asyncDispose]();
      },
    };
  },
  { largest: 1024 * MIB, part: 8 * MIB },
);
