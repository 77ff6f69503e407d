/** An image of this installation. */
export interface ReleaseImage {
  readonly deploymentId: string;
  readonly projectId: string;
  /** Its digest. */
  readonly image: string;
  /** Bytes on the engine, with layers that others share. */
  readonly bytes: number;
}

/** The images that deployments were built to, kept on the engine by deployment. Images of others are never touched. */
export interface ReleaseImages {
  /** A deployment's image, if it is there. */
  find(deploymentId: string): Promise<ReleaseImage | undefined>;
  /** Every image of this installation. */
  list(): Promise<readonly ReleaseImage[]>;
  /** Removes a deployment's image with the layers that nothing else needs; an absent one is no error, one in use stays until it is not. */
  remove(deploymentId: string): Promise<void>;
  /** Removes layers that belong to no image any more, and build cache beyond so many bytes, least recently used first. */
  trim(maxCacheBytes: number): Promise<void>;
  /** The files below an absolute path of an image, as a tar whose entries begin with the last part of that path; rejects with `invalid`, code `output_missing`, when there are none. */
  archive(image: string, path: string): Promise<ReadableStream<Uint8Array>>;
}
