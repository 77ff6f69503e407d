import type { S3Client, S3ClientConfig } from "@aws-sdk/client-s3";
import type { BucketTarget, ObjectStorages, OpenStorage } from "../../ports/backups/object_storages.ts";
import { S3ObjectStorage } from "./object_storage.ts";
import { StoreRequestHandler, type WayToStore } from "./request_handler.ts";

/** How stores are reached and asked. */
export interface S3ObjectStoragesOptions extends WayToStore {
  /** Milliseconds to add to this machine's clock; for tests. */
  readonly clockOffsetMs?: number | undefined;
}

const DEFAULT_REGION = "us-east-1";
const PATIENT_ATTEMPTS = 4;

/** Opens buckets of Amazon S3 and of stores that speak its protocol; nothing is asked before the first operation. */
export class S3ObjectStorages implements ObjectStorages<BucketTarget> {
  readonly #options: S3ObjectStoragesOptions;

  constructor(options: S3ObjectStoragesOptions = {}) {
    this.#options = options;
  }

  async open(target: BucketTarget): Promise<OpenStorage> {
    // Loaded late: a server that keeps no backups need not hold the SDK in memory.
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
      // Many compatible stores know no checksums beyond the signature's own.
      requestChecksumCalculation: "WHEN_REQUIRED",
      responseChecksumValidation: "WHEN_REQUIRED",
      // Neither the environment nor files of this machine's user have a say.
      useArnRegion: false,
      useDualstackEndpoint: false,
      useFipsEndpoint: false,
      userAgentAppId: async () => "slipway",
    };
  }
}

/** The SDK would quietly take over the clock of whatever answers; a clock that is wrong has to show instead. */
function withOwnClock(client: S3Client, offsetMs = 0): S3Client {
  Object.defineProperty(client.config, "systemClockOffset", { get: () => offsetMs, set() {} });
  return client;
}
