import { MemoryCertificateAuthority } from "../../../adapters/memory/certificate_authority.ts";
import { MemoryClock } from "../../../adapters/memory/clock.ts";
import { certificateAuthorityContract } from "../../contracts/certificate_authority.ts";

certificateAuthorityContract("memory", async () => {
  const served = new Map<string, string>();
  const authority = new MemoryCertificateAuthority(new MemoryClock());
  authority.lookUp = (hostname, token) => served.get(`${hostname}/${token}`);
  return { authority, served };
});
