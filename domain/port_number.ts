/** Parses a port number; `null` unless it is from 1 to 65535. */
export function portNumber(port: string | number | undefined): number | null {
  return port !== undefined && /^[1-9]\d{0,4}$/.test(`${port}`) && Number(port) <= 65_535 ? Number(port) : null;
}
