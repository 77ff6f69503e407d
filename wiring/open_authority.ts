import { AcmeAuthority } from "../adapters/acme/acme_authority.ts";
import { NoAuthority } from "../adapters/acme/no_authority.ts";
import { authoritiesOf } from "../adapters/shared/authorities.ts";
import type { Config } from "../config.ts";
import type { AuthorityAccounts } from "../ports/domains/authority_accounts.ts";
import type { CertificateAuthority } from "../ports/domains/certificate_authority.ts";

/** Opens the certificate authority. It is not asked for anything before the first order. */
export async function openAuthority(
  { acmeCaFile, acmeDirectoryUrl, acmeEmail }: Pick<Config, "acmeCaFile" | "acmeDirectoryUrl" | "acmeEmail">,
  accounts: AuthorityAccounts,
): Promise<CertificateAuthority> {
  if (acmeDirectoryUrl === undefined) return new NoAuthority();
  const authorities = await authoritiesOf("ACME_CA_FILE", acmeCaFile);
  return new AcmeAuthority({ directoryUrl: acmeDirectoryUrl, email: acmeEmail, accounts, authorities });
}
