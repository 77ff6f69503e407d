import type { Config } from "../config.ts";
import type { Certificates } from "../ports/domains/certificates.ts";

export interface VisitorUrlPorts {
  readonly certificates: Certificates;
  readonly edge: { readonly port: number; readonly tlsPort: number };
}

/** The addresses that visitors reach host names at. */
export function visitorUrls(
  { certificates, edge }: VisitorUrlPorts,
  { edgeHttpsRedirect }: Pick<Config, "edgeHttpsRedirect">,
) {
  const plain = (hostname: string) => `http://${hostname}${edge.port === 80 ? "" : `:${edge.port}`}`;
  return {
    /** The address over plain HTTP. */
    plain,
    /** The address that a plain request ends at: over HTTPS for a name that has a certificate now. */
    async final(hostname: string): Promise<string> {
      const isRedirected = edgeHttpsRedirect && edge.tlsPort > 0 && (await certificates.find(hostname)) !== undefined;
      if (!isRedirected) return plain(hostname);
      return `https://${hostname}${edge.tlsPort === 443 ? "" : `:${edge.tlsPort}`}`;
    },
  };
}
