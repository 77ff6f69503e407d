import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { S3ObjectStorages } from "../../../adapters/s3/object_storages.ts";
import { Failure } from "../../../domain/failure.ts";
import type { BucketTarget } from "../../../ports/backups/object_storages.ts";
import { objectStorageContract } from "../../contracts/object_storage.ts";
import { textBody, textOf } from "../../support/inputs/bodies.ts";
import { type S3Server, s3Server } from "../../support/peers/s3_server.ts";
import { selfSignedCertificate } from "../../support/inputs/self_signed_certificate.ts";

const MIB = 1024 * 1024;
let server: S3Server;

beforeAll(async () => {
  server = await s3Server();
});
afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

objectStorageContract(
  "S3 on Ceph",
  async () => {
    const sdk = await import("@aws-sdk/client-s3");
    const target = await server.bucket();
    const client = await server.client(target);
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
  { largest: 512 * MIB, part: 8 * MIB },
);

/** A host name that the storage accepts as its own. */
const NAME = "store.test";
const port = () => new URL(server.url).port;
/** Resolves every name to the storage. */
const here = async () => new URL(server.url).hostname;

async function works(storages: S3ObjectStorages, target: BucketTarget): Promise<string | undefined> {
  await using storage = await storages.open(target);
  await storage.put("a/b", textBody("works"));
  return await textOf(await storage.get("a/b"));
}

describe("S3ObjectStorages on Ceph", () => {
  test("finds a bucket by its name in the host as well as in the path", async () => {
    const target = await server.bucket();
    const hosts: string[] = [];
    const resolveAddress = (host: string) => {
      hosts.push(host);
      return here();
    };
    const storages = new S3ObjectStorages({ resolveAddress });
    const endpoint = `http://${NAME}:${port()}`;
    expect(await works(storages, { ...target, endpoint, forcePathStyle: false })).toBe("works");
    expect(await works(storages, { ...target, endpoint, forcePathStyle: true })).toBe("works");
    expect(new Set(hosts)).toEqual(new Set([`${target.bucket}.${NAME}`, NAME]));
  });

  test("trusts a configured CA, and the certificate has to match the name", async () => {
    const target = await server.bucket();
    const { key, cert } = selfSignedCertificate(NAME);
    using secure = Bun.serve({
      port: 0,
      hostname: await here(),
      tls: { key, cert },
      async fetch(request) {
        const url = request.url.replace(/^https:\/\/[^/]+/, server.url);
        const { method, headers } = request;
        return fetch(url, { method, headers, ...(request.body && { body: await request.arrayBuffer() }) });
      },
    });
    const at = (host: string): BucketTarget => ({ ...target, endpoint: `https://${host}:${secure.port}` });
    const authorities = [cert];
    const trusting = new S3ObjectStorages({ resolveAddress: here, authorities });
    expect(await works(trusting, at(NAME))).toBe("works");
    const distrusted = { code: "misconfigured", message: expect.stringContaining("BACKUP_CA_FILE") };
    await expect(works(trusting, at("other.test"))).rejects.toMatchObject(distrusted);
    await expect(works(new S3ObjectStorages({ resolveAddress: here }), at(NAME))).rejects.toMatchObject(distrusted);
  });

  test("connects to no other address than the one that was checked", async () => {
    const target = await server.bucket();
    const refused = new Failure(
      "remote_failed",
      "unreachable",
      "Cannot connect: only public addresses can be used here",
    );
    const storages = new S3ObjectStorages({ resolveAddress: () => Promise.reject(refused) });
    await expect(works(storages, target)).rejects.toBe(refused);
    let lookups = 0;
    // A name that resolves to a public address when it is checked, and to a private one a moment later (DNS rebinding).
    const rebinding = new S3ObjectStorages({
      resolveAddress: async () => (lookups++ === 0 ? await here() : "192.0.2.1"),
    });
    await using storage = await rebinding.open({ ...target, endpoint: `http://${NAME}:${port()}` });
    await storage.put("x", textBody("x"));
    expect(lookups).toBe(1);
  });

  test.each([301, 302, 307, 308])("does not follow a response of %d with its credentials", async (status) => {
    const target = await server.bucket();
    const seen: string[] = [];
    using elsewhere = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        seen.push(request.url);
        return new Response();
      },
    });
    const location = `http://127.0.0.1:${elsewhere.port}/`;
    using redirecting = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(null, { status, headers: { location } }),
    });
    const led = works(new S3ObjectStorages(), { ...target, endpoint: `http://127.0.0.1:${redirecting.port}` });
    await expect(led).rejects.toMatchObject({ code: "misconfigured" });
    expect(seen).toEqual([]);
  });

  test("sweep() uses the time of the last part of an upload, not of its beginning", async () => {
    const sdk = await import("@aws-sdk/client-s3");
    const target = await server.bucket();
    const client = await server.client(target);
    const at = { Bucket: target.bucket, Key: "slow.tar" };
    const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(at));
    const sendPart = (PartNumber: number) =>
      client.send(new sdk.UploadPartCommand({ ...at, UploadId, PartNumber, Body: new Uint8Array(10) }));
    await sendPart(1);
    // The storage's times have a resolution of one second.
    await Bun.sleep(1_100);
    const before = new Date();
    await Bun.sleep(1_100);
    await sendPart(2);
    await using storage = await new S3ObjectStorages().open(target);
    expect(await storage.sweep("", { before })).toBe(0);
    expect(await storage.unfinished("")).toEqual(["slow.tar"]);
    expect(await storage.sweep("", { before: new Date(Date.now() + 60_000) })).toBe(1);
    expect(await storage.unfinished("")).toEqual([]);
  });

  test("reports a wrong clock", async () => {
    const target = await server.bucket();
    const late = works(new S3ObjectStorages({ clockOffsetMs: 3_600_000 }), target);
    await expect(late).rejects.toMatchObject({ code: "misconfigured", message: expect.stringContaining("clock") });
  });

  test("never repeats the response of a store", async () => {
    const target = await server.bucket();
    const secret = target.secretAccessKey.reveal();
    using revealing = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () =>
        new Response(`<Error><Code>Odd${secret}</Code><Message>${secret}</Message></Error>`, { status: 400 }),
    });
    const attempt = works(new S3ObjectStorages(), { ...target, endpoint: `http://127.0.0.1:${revealing.port}` });
    const error = await attempt.then(
      () => undefined,
      (failure: Error) => failure,
    );
    expect(error).toMatchObject({ code: "misconfigured" });
    expect(`${error?.message} ${Bun.inspect(error)}`).not.toContain(secret);
  });
});
