import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import type { BucketTarget, ObjectStorages, OpenStorage } from "../../ports/backups/object_storages.ts";
import { S3ObjectStorage } from "./object_storage.ts";
import { StoreRequestHandler, type StoreConnectionOptions } from "./request_handler.ts";

/** Options of S3 clients. */
export interface S3ObjectStoragesOptions extends StoreConnectionOptions {
  /** Milliseconds to add to this machine's clock. For tests. */
  readonly clockOffsetMs?: number | undefined;
}

const DEFAULT_REGION = "us-east-1";
const PATIENT_ATTEMPTS = 4;

/** Opens buckets of Amazon S3 and of S3-compatible stores. Sends no request before the first operation. */
export class S3ObjectStorages implements ObjectStorages<BucketTarget> {
  readonly #options: S3ObjectStoragesOptions;

  constructor(options: S3ObjectStoragesOptions = {}) {
    this.#options = options;
  }

  async open(target: BucketTarget): Promise<OpenStorage> {
    // Loaded lazily: a server without backups does not keep the SDK in memory.
    const sdk = await import("@aws-sdk/client-s3");
    const client = (maxAttempts: number) =>
      withOwnClock(new sdk.S3Client({ ...this.#config(target), maxAttempts }), this.#options.clockOffsetMs);
    return new S3ObjectStorage(target, { sdk, client: client(1), patientClient: client(PATIENT_ATTEMPTS) });
  }

  #config({ endpoint, region, forcePathStyle, accessKeyId, secretAccessKey }: BucketTarget): S3ClientConfig {
    return {
      region: region ?? DEFAULT_REGION,
      forcePathStyle,
      ...(endpoint !== null && { endpoint }),
      credentials: { accessKeyId: accessKeyId.reveal(), secretAccessKey: secretAccessKey.reveal() },
      requestHandler: new StoreRequestHandler(this.#options) as never,
      // Many compatible stores support no checksums beyond the signature's own.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      // Ignores the environment and configuration files of this machine's user.
      useArnRegion: false,
      useDualstackEndpoint: false,
      useFipsEndpoint: false,
      userAgentAppId: async () => "slipway",
    };
  }
}

/**
 * Fixes the clock offset: the SDK would silently adopt the clock of whatever responds, but a wrong clock must surface
 * as an error.
 */
function withOwnClock(client: S3Client, offsetMs = 0): S3Client {
  Object.defineProperty(client.config, "systemClockOffset", { get: () => offsetMs, set() {} });
  return client;
}
