import type { ApplicationPorts } from "../application_ports.ts";
import { acceptInvitation } from "./accept_invitation.ts";
import { changeMember } from "./change_member.ts";
import { changeProfile } from "./change_profile.ts";
import { claimInstallation } from "./claim_installation.ts";
import { createOrganization } from "./create_organization.ts";
import { createToken } from "./create_token.ts";
import { describeCaller } from "./describe_caller.ts";
import { identifyCaller } from "./identify_caller.ts";
import { inviteMember } from "./invite_member.ts";
import { listAudit } from "./list_audit.ts";
import { listInvitations, listMembers } from "./list_members.ts";
import { listOrganizations } from "./list_organizations.ts";
import { listTokens } from "./list_tokens.ts";
import { logIn } from "./log_in.ts";
import { logOut } from "./log_out.ts";
import { removeMember } from "./remove_member.ts";
import { revokeToken } from "./revoke_token.ts";
import { setPassword } from "./set_password.ts";

export type IdentityUseCases = ReturnType<typeof identityUseCases>;

/** The use cases of users, organizations and tokens. */
export function identityUseCases(ports: ApplicationPorts) {
  return {
    acceptInvitation: acceptInvitation(ports),
    changeMember: changeMember(ports),
    changeProfile: changeProfile(ports),
    claimInstallation: claimInstallation(ports),
    createOrganization: createOrganization(ports),
    createToken: createToken(ports),
    describeCaller: describeCaller(ports),
    identifyCaller: identifyCaller(ports),
    inviteMember: inviteMember(ports),
    listAudit: listAudit(ports),
    listInvitations: listInvitations(ports),
    listMembers: listMembers(ports),
    listOrganizations: listOrganizations(ports),
    listTokens: listTokens(ports),
    logIn: logIn(ports),
    logOut: logOut(ports),
    removeMember: removeMember(ports),
    revokeToken: revokeToken(ports),
    setPassword: setPassword(ports),
  };
}
