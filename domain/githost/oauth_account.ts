/** An account of the git host that a user connected by OAuth, without its tokens. */
export interface OAuthAccount {
  readonly organizationId: string;
  readonly userId: string;
  readonly login: string;
  readonly connectedAt: Date;
}
