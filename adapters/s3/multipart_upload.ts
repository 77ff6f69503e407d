import type * as Sdk from "@aws-sdk/client-s3";
import { Failure } from "../../domain/failure.ts";
import { partSize, partsAtOnce } from "./part_sizes.ts";
import { unlessAborted } from "../shared/deadline.ts";

/** The destination of an upload, and the client to send it with. */
export interface UploadPlace {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly signal: AbortSignal | undefined;
}

interface SentPart {
  readonly PartNumber: number;
  readonly ETag: string | undefined;
}

/**
 * Buffers bytes into parts and uploads several in parallel. An object that fits into one part is sent with a single
 * PUT. Buffers are reused, so that memory use does not grow with the object.
 */
export class MultipartUpload {
  readonly #place: UploadPlace;
  readonly #sending = new Set<Promise<void>>();
  readonly #sent: SentPart[] = [];
  readonly #free: Uint8Array<ArrayBuffer>[] = [];
  #buffer: Uint8Array<ArrayBuffer>;
  #filled = 0;
  #number = 1;
  #upload: Promise<string | undefined> | undefined;
  #failed: { readonly error: unknown } | undefined;

  constructor(place: UploadPlace) {
    this.#place = place;
    this.#buffer = new Uint8Array(partSize(1)!);
  }

  /** Writes a chunk. Resolves when more may be written (backpressure). */
  async write(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length;) {
      if (this.#filled === this.#buffer.length) await this.#sendPart();
      const some = chunk.subarray(at, at + this.#buffer.length - this.#filled);
      this.#buffer.set(some, this.#filled);
      this.#filled += some.length;
      at += some.length;
    }
  }

  /** Uploads the rest and completes the object. */
  async finish(): Promise<void> {
    const { sdk, client, bucket, key, signal } = this.#place;
    const options = signal && { abortSignal: signal };
    if (this.#upload === undefined) {
      const Body = this.#buffer.subarray(0, this.#filled);
      await client.send(new sdk.PutObjectCommand({ Bucket: bucket, Key: key, Body }), options);
      return;
    }
    await this.#sendPart();
    while (this.#sending.size > 0) await Promise.race(this.#sending);
    this.#rethrow();
    const Parts = this.#sent.toSorted((a, b) => a.PartNumber - b.PartNumber);
    const whole = { Bucket: bucket, Key: key, UploadId: await this.#upload, MultipartUpload: { Parts } };
    await client.send(new sdk.CompleteMultipartUploadCommand(whole), options);
  }

  /** Aborts the multipart upload, once none of its parts is in flight. */
  async abandon(signal: AbortSignal): Promise<void> {
    await unlessAborted(Promise.all(this.#sending), signal);
    const id = this.#upload && (await unlessAborted(this.#upload, signal));
    if (id === undefined) return;
    const { sdk, client, bucket, key } = this.#place;
    const upload = { Bucket: bucket, Key: key, UploadId: id };
    await client.send(new sdk.AbortMultipartUploadCommand(upload), { abortSignal: signal });
  }

  /** Uploads the filled buffer while the next one is filled. Waits while too many parts are in flight. */
  async #sendPart(): Promise<void> {
    const { sdk, client, bucket, key, signal } = this.#place;
    const options = signal && { abortSignal: signal };
    const id = await unlessAborted((this.#upload ??= this.#begin()), signal);
    const [number, buffer, Body] = [this.#number++, this.#buffer, this.#buffer.subarray(0, this.#filled)];
    const part = { Bucket: bucket, Key: key, UploadId: id, PartNumber: number, Body };
    const sending = client
      .send(new sdk.UploadPartCommand(part), options)
      .then(
        ({ ETag }) => void this.#sent.push({ PartNumber: number, ETag }),
        (error: unknown) => void (this.#failed ??= { error }),
      )
      .finally(() => {
        this.#sending.delete(sending);
        this.#free.push(buffer);
      });
    this.#sending.add(sending);
    const next = partSize(this.#number);
    if (next === undefined) throw tooLarge();
    while (this.#sending.size >= partsAtOnce(next)) await Promise.race(this.#sending);
    this.#rethrow();
    this.#filled = 0;
    const free = this.#free.pop();
    this.#buffer = free?.length === next ? free : new Uint8Array(next);
  }

  /** Not abortable: the id of an upload that it may have started would be lost. */
  async #begin(): Promise<string | undefined> {
    const { sdk, client, bucket, key } = this.#place;
    return (await client.send(new sdk.CreateMultipartUploadCommand({ Bucket: bucket, Key: key }))).UploadId;
  }

  #rethrow(): void {
    if (this.#failed) throw this.#failed.error;
  }
}

function tooLarge(): Failure {
  return new Failure("remote_failed", "storage_full", "Cannot write the object: it is larger than S3 accepts in parts");
}
