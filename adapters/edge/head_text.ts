export const HEAD_BYTES = 65_536;
const USUAL_BYTES = 4_096;

/** The head at the beginning of these bytes, without its empty line; `undefined` if it has not arrived whole, or is too large. */
export function headText(bytes: Buffer): string | undefined {
  return within(bytes, USUAL_BYTES) ?? (bytes.length > USUAL_BYTES ? within(bytes, HEAD_BYTES) : undefined);
}

function within(bytes: Buffer, limit: number): string | undefined {
  const text = bytes.toString("latin1", 0, Math.min(bytes.length, limit));
  const end = text.indexOf("\r\n\r\n");
  return end < 0 ? undefined : text.slice(0, end + 2);
}
