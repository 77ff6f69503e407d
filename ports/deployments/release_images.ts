/** Whose image it is: that of a service of a deployment; a simple project has one service, named `app`. */
export interface ImageOwner {
  readonly deploymentId: string;
  readonly projectId: string;
  readonly service: string;
}

/** An image of this installation. */
export interface ReleaseImage extends ImageOwner {
  /** Its digest. */
  readonly image: string;
  /** Bytes on the engine, with layers that others share. */
  readonly bytes: number;
}

/** The images that deployments run, kept on the engine by deployment and service. Images of others are never touched. */
export interface ReleaseImages {
  /** The image of a deployment's service, if it is there. */
  find(deploymentId: string, service: string): Promise<ReleaseImage | undefined>;
  /** Every image of this installation, once for each service that has it. */
  list(): Promise<readonly ReleaseImage[]>;
  /** Keeps an image that is on the engine, whoever brought it, for this service too, in the place of the one it had; `false` when it is not there. */
  keep(image: string, owner: ImageOwner): Promise<boolean>;
  /** Removes a deployment's images with the layers that nothing else needs; an absent one is no error, one in use stays until it is not. */
  remove(deploymentId: string): Promise<void>;
  /**
   * Removes layers that belong to no image any more, images that this installation pulled and that have no name of
   * anybody any more, and build cache beyond so many bytes, least recently used first; `Infinity` leaves that alone.
   * What runs stays, and so does what somebody else brought to the engine.
   */
  trim(maxCacheBytes: number): Promise<void>;
  /** The files below an absolute path of an image, as a tar whose entries begin with the last part of that path; rejects with `invalid`, code `output_missing`, when there are none. */
  archive(image: string, path: string): Promise<ReadableStream<Uint8Array>>;
}
