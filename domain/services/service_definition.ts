/** A service as the user defines it, in a project with several. */
export interface ServiceDefinition {
  readonly name: string;
  readonly image?: string;
  readonly build?: string | ServiceBuild;
  readonly dockerfile?: string;
  readonly ports?: readonly (string | number)[];
  readonly dependsOn?: readonly string[] | Readonly<Record<string, { readonly condition: string }>>;
  readonly environment?: Readonly<Record<string, string>> | readonly string[];
  readonly volumes?: readonly string[];
  readonly command?: string | readonly string[];
  readonly entrypoint?: string | readonly string[];
  readonly restart?: string;
  readonly healthcheck?: ServiceHealthcheck;
  readonly oneShot?: boolean;
  readonly pullPolicy?: "missing" | "always";
  readonly resources?: { readonly cpus?: number; readonly memoryBytes?: number };
  readonly rootDirectory?: string;
  readonly installCommand?: string;
  readonly buildCommand?: string;
  readonly startCommand?: string;
  readonly outputDirectory?: string;
  readonly framework?: string;
  readonly packageManager?: string;
}

export interface ServiceBuild {
  readonly context?: string;
  readonly dockerfile?: string;
  readonly target?: string;
  readonly args?: Readonly<Record<string, string>>;
}

export interface ServiceHealthcheck {
  readonly test?: string | readonly string[];
  readonly interval?: string | number;
  readonly timeout?: string | number;
  readonly retries?: number;
  readonly startPeriod?: string | number;
}

/** A public address that routes to a service. */
export interface PublicEndpoint {
  readonly port?: number | string;
  readonly targetPath?: string;
  readonly domain?: string;
  readonly customDomain?: string;
  readonly domainType?: "free" | "custom";
  readonly service?: string;
}
