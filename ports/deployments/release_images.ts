/** The service of a deployment that an image belongs to. A simple project has one service, named `app`. */
export interface ImageOwner {
  readonly deploymentId: string;
  readonly projectId: string;
  readonly service: string;
}

/** An image of this installation. */
export interface ReleaseImage extends ImageOwner {
  /** Its digest. */
  readonly image: string;
  /** Bytes on the engine, including layers that other images share. */
  readonly bytes: number;
}

/** The images that deployments run, stored on the engine by deployment and service. Never touches other images. */
export interface ReleaseImages {
  /** Returns the image of a deployment's service, if there is one. */
  find(deploymentId: string, service: string): Promise<ReleaseImage | undefined>;
  /** Lists every image of this installation, once per service that has it. */
  list(): Promise<readonly ReleaseImage[]>;
  /**
   * Keeps an image that is on the engine, whatever its origin, for this service too, and replaces the service's
   * previous one. Returns `false` when the image is not there.
   */
  keep(image: string, owner: ImageOwner): Promise<boolean>;
  /**
   * Removes a deployment's images with the layers that nothing else needs. An absent one is no error; one in use stays
   * until it no longer is.
   */
  remove(deploymentId: string): Promise<void>;
  /**
   * Removes layers that belong to no image any more, images that this installation pulled and that have no tag left,
   * and build cache beyond `maxCacheBytes`, least recently used first (`Infinity` leaves the cache alone). Keeps
   * everything that runs, and everything that others brought to the engine.
   */
  trim(maxCacheBytes: number): Promise<void>;
  /**
   * Returns the files below an absolute path of an image as a tar, whose entries begin with the last segment of that
   * path. Rejects with an `invalid` failure, code `output_missing`, when there are none.
   */
  archive(image: string, path: string): Promise<ReadableStream<Uint8Array>>;
}
