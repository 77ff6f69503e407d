/** Maximum length of a head. */
export const HEAD_BYTES = 65_536;
const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * Returns the head (first line and headers) at the start of a buffer, without its empty line; `undefined` if it is
 * incomplete or too large.
 */
export function headText(bytes: Buffer): string | undefined {
  const end = bytes.indexOf(HEAD_END);
  return end < 0 || end + HEAD_END.length > HEAD_BYTES ? undefined : bytes.toString("latin1", 0, end + 2);
}
