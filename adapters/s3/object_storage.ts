import type * as Sdk from "@aws-sdk/client-s3";
import { checkObjectKey, isObjectKey } from "../../domain/backups/object_key.ts";
import { drainStream } from "../../domain/backups/drain_stream.ts";
import type { ObjectPage, StoredObject } from "../../domain/backups/stored_object.ts";
import type { ObjectListOptions, StorageOptions, SweepOptions } from "../../ports/backups/object_storage.ts";
import type { BucketTarget, OpenStorage } from "../../ports/backups/object_storages.ts";
import { MultipartUpload } from "./multipart_upload.ts";
import { ACTIONS, saysAbsent, type StoreAction, storeFailure } from "./store_failure.ts";

const PAGE = 1_000;
const ABANDON_MS = 5_000;

/** The SDK and its clients for a bucket. */
export interface BucketTools {
  readonly sdk: typeof Sdk;
  /** Does not retry. */
  readonly client: Sdk.S3Client;
  /** Retries retryable errors, because callers cannot repeat parts of a stream. */
  readonly patientClient: Sdk.S3Client;
}

/** A multipart upload that was started and neither completed nor aborted. */
interface UnfinishedUpload {
  readonly key: string;
  readonly id: string;
  readonly begun: Date;
}

/** Stores objects in an S3 bucket. */
export class S3ObjectStorage implements OpenStorage {
  readonly hostKey = null;
  readonly #target: BucketTarget;
  readonly #tools: BucketTools;

  constructor(target: BucketTarget, tools: BucketTools) {
    this.#target = target;
    this.#tools = tools;
  }

  async put(key: string, content: ReadableStream<Uint8Array>, { signal }: StorageOptions = {}): Promise<number> {
    checkObjectKey(key);
    signal?.throwIfAborted();
    const { sdk, patientClient } = this.#tools;
    const stop = new AbortController();
    const ended = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
    const upload = new MultipartUpload({ sdk, client: patientClient, ...this.#at(key), signal: ended });
    const sending = (work: () => Promise<void>) => this.#failing(ACTIONS.put, signal, work);
    try {
      const bytes = await drainStream(content, (chunk) => sending(() => upload.write(chunk)), signal);
      await sending(() => upload.finish());
      return bytes;
    } catch (error) {
      stop.abort();
      await upload.abandon(AbortSignal.timeout(ABANDON_MS)).catch(() => {});
      throw error;
    }
  }

  async get(key: string, { signal }: StorageOptions = {}): Promise<ReadableStream<Uint8Array> | undefined> {
    checkObjectKey(key);
    const { sdk, client } = this.#tools;
    const found = await this.#unlessAbsent(ACTIONS.get, signal, () =>
      client.send(new sdk.GetObjectCommand(this.#named(key)), options(signal)),
    );
    const body = found?.Body as unknown as ReadableStream<Uint8Array> | undefined;
    return body && this.#contentOf(body, signal);
  }

  async stat(key: string, { signal }: StorageOptions = {}): Promise<StoredObject | undefined> {
    checkObjectKey(key);
    const { sdk, client } = this.#tools;
    const found = await this.#unlessAbsent(ACTIONS.stat, signal, () =>
      client.send(new sdk.HeadObjectCommand(this.#named(key)), options(signal)),
    );
    return found && { key, bytes: found.ContentLength ?? 0, modifiedAt: found.LastModified ?? new Date(0) };
  }

  async list(prefix: string, { after, limit = PAGE, signal }: ObjectListOptions = {}): Promise<ObjectPage> {
    const { sdk, client } = this.#tools;
    const wanted = { Bucket: this.#target.bucket, Prefix: prefix, StartAfter: after, MaxKeys: limit };
    const { Contents = [], IsTruncated } = await this.#failing(ACTIONS.list, signal, () =>
      client.send(new sdk.ListObjectsV2Command(wanted), options(signal)),
    );
    const objects = Contents.map(({ Key = "", Size = 0, LastModified = new Date(0) }) => ({
      key: Key,
      bytes: Size,
      modifiedAt: LastModified,
    }));
    const last = objects.at(-1)?.key ?? null;
    return { objects: objects.filter(({ key }) => isObjectKey(key)), next: IsTruncated ? last : null };
  }

  async remove(key: string, { signal }: StorageOptions = {}): Promise<void> {
    checkObjectKey(key);
    const { sdk, client } = this.#tools;
    await this.#unlessAbsent(ACTIONS.remove, signal, () =>
      client.send(new sdk.DeleteObjectCommand(this.#named(key)), options(signal)),
    );
  }

  async unfinished(prefix: string, { signal }: StorageOptions = {}): Promise<readonly string[]> {
    const uploads = await this.#uploads(prefix, signal);
    return [...new Set(uploads.map(({ key }) => key))].filter(isObjectKey);
  }

  async discard(key: string, { signal }: StorageOptions = {}): Promise<void> {
    checkObjectKey(key);
    for (const upload of await this.#uploads(key, signal)) {
      if (upload.key === key) await this.#end(upload, signal);
    }
  }

  async sweep(prefix: string, { before, signal }: SweepOptions): Promise<number> {
    let swept = 0;
    for (const upload of await this.#uploads(prefix, signal)) {
      if (!isObjectKey(upload.key) || upload.begun >= before || (await this.#grew(upload, before, signal))) continue;
      await this.#end(upload, signal);
      swept++;
    }
    return swept;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tools.client.destroy();
    this.#tools.patientClient.destroy();
  }

  async #uploads(prefix: string, signal: AbortSignal | undefined) {
    const { sdk, client } = this.#tools;
    const found: UnfinishedUpload[] = [];
    let marker: { KeyMarker?: string | undefined; UploadIdMarker?: string | undefined } = {};
    for (let more = true; more;) {
      const wanted = { Bucket: this.#target.bucket, Prefix: prefix, ...marker };
      const page = await this.#failing(ACTIONS.unfinished, signal, () =>
        client.send(new sdk.ListMultipartUploadsCommand(wanted), options(signal)),
      );
      for (const { Key = "", UploadId = "", Initiated = new Date() } of page.Uploads ?? []) {
        found.push({ key: Key, id: UploadId, begun: Initiated });
      }
      marker = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker };
      more = page.IsTruncated === true;
    }
    return found;
  }

  /** Returns whether a part was added to an upload at this time or later. */
  async #grew({ key, id }: UnfinishedUpload, since: Date, signal: AbortSignal | undefined): Promise<boolean> {
    const { sdk, client } = this.#tools;
    let marker: string | undefined;
    for (;;) {
      const wanted = { ...this.#named(key), UploadId: id, PartNumberMarker: marker };
      const page = await this.#unlessAbsent(ACTIONS.parts, signal, () =>
        client.send(new sdk.ListPartsCommand(wanted), options(signal)),
      );
      if (page?.Parts?.some(({ LastModified = new Date() }) => LastModified >= since)) return true;
      if (!page?.IsTruncated) return false;
      marker = page.NextPartNumberMarker;
    }
  }

  /** Aborts an upload and removes its parts. Ignores one that no longer exists. */
  async #end({ key, id }: UnfinishedUpload, signal: AbortSignal | undefined): Promise<void> {
    const { sdk, client } = this.#tools;
    await this.#unlessAbsent(ACTIONS.discard, signal, () =>
      client.send(new sdk.AbortMultipartUploadCommand({ ...this.#named(key), UploadId: id }), options(signal)),
    );
  }

  /** Wraps a response body, converting its errors to failures. */
  #contentOf(body: ReadableStream<Uint8Array>, signal: AbortSignal | undefined): ReadableStream<Uint8Array> {
    const reader = body.getReader();
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const next = await this.#failing(ACTIONS.get, signal, () => reader.read());
          if (next.done) controller.close();
          else controller.enqueue(next.value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  async #unlessAbsent<T>(
    action: StoreAction,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    return this.#failing(action, signal, async () => {
      try {
        return await work();
      } catch (error) {
        if (saysAbsent(error)) return undefined;
        throw error;
      }
    });
  }

  async #failing<T>(action: StoreAction, signal: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) throw signal.reason;
      throw storeFailure(this.#target, action, error);
    }
  }

  #named(key: string) {
    return { Bucket: this.#target.bucket, Key: key };
  }

  #at(key: string) {
    return { bucket: this.#target.bucket, key };
  }
}

function options(signal: AbortSignal | undefined) {
  return signal && { abortSignal: signal };
}
