const MEGABYTE = 1_000_000;

/** Returns the sentence for a log that an image was sent to a server. */
export function sentImage({ bytes, layers }: { readonly bytes: number; readonly layers: number }): string {
  const size = bytes < MEGABYTE ? `${Math.ceil(bytes / 1_000)} kB` : `${(bytes / MEGABYTE).toFixed(1)} MB`;
  return `Sent the image to the server: ${layers === 1 ? "1 layer" : `${layers} layers`}, ${size}`;
}
