/** A webhook of a repository on the git host. */
export interface HostHook {
  readonly id: number;
  readonly url: string;
  readonly events: readonly string[];
  readonly active: boolean;
}
