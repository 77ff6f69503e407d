/**
 * Returns whether one of the names of a certificate is for a host, as browsers decide it: a wildcard stands for exactly
 * one label, is the whole first label, and has at least two labels after it.
 */
export function certificateIsFor(names: readonly string[], hostname: string): boolean {
  const host = hostname.toLowerCase();
  const parent = host.slice(host.indexOf(".") + 1);
  return names.some((name) => {
    const pattern = name.toLowerCase();
    if (!pattern.startsWith("*.")) return pattern === host;
    return parent.includes(".") && pattern === `*.${parent}`;
  });
}
