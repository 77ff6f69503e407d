export const HEAD_BYTES = 65_536;
const USUAL_BYTES = 4_096;

/**
 * Returns the head (first line and headers) at the start of a buffer, without its empty line; `undefined` if it is
 * incomplete or too large.
 */
export function headText(bytes: Buffer): string | undefined {
  return within(bytes, USUAL_BYTES) ?? (bytes.length > USUAL_BYTES ? within(bytes, HEAD_BYTES) : undefined);
}

function within(bytes: Buffer, limit: number): string | undefined {
  const text = bytes.toString("latin1", 0, Math.min(bytes.length, limit));
  const end = text.indexOf("\r\n\r\n");
  return end < 0 ? undefined : text.slice(0, end + 2);
}
