import { invalidField } from "../../domain/failure.ts";
import { isPublicAddress } from "../../domain/network_address.ts";
import type { NameRecords } from "../../ports/domains/name_records.ts";

export interface RefusePrivateHostPorts {
  readonly mode: "self-hosted" | "cloud";
  readonly nameRecords: NameRecords;
}

/** In cloud mode, refuses a host that does not resolve to public IP addresses only; otherwise accepts every host. */
export function refusePrivateHost({ mode, nameRecords }: RefusePrivateHostPorts) {
  return async function (field: string, host: string): Promise<void> {
    if (mode !== "cloud") return;
    const addresses = await nameRecords.addresses(host);
    if (addresses.length === 0) throw invalidField(field, "this name does not resolve");
    if (!addresses.every(isPublicAddress)) throw invalidField(field, "only public addresses can be used here");
  };
}
