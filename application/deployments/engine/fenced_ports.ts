import { isClaimVoid } from "../../../domain/deployments/claim_void.ts";
import { type Hold, LeaseLost } from "./hold.ts";
import type { EnginePorts } from "./run.ts";

type Reads = { readonly [Port in keyof EnginePorts]: readonly (keyof EnginePorts[Port])[] };
type Overrides = { readonly [Port in keyof EnginePorts]?: Partial<EnginePorts[Port]> };

/** Methods that change nothing. Every other method is fenced, so that a method added to a port is safe by default. */
const READS: Reads = {
  adoptions: ["list"],
  builder: [],
  clock: ["now"],
  serviceSets: ["read"],
  containerEngine: ["answers"],
  deployKeys: ["find", "privateKey"],
  deploymentEvents: ["read", "last", "follow"],
  deployments: ["find", "get", "ofProject", "usingFilesOf", "environment"],
  domains: ["list", "ofProjects", "find"],
  edge: ["drained"],
  healthProbe: ["check"],
  hostFolders: ["resolve", "locate"],
  imageBuilder: ["features", "identify"],
  imageRegistry: [],
  installation: ["id", "usesContainers", "founder"],
  instanceSockets: ["listening"],
  keptSources: ["has", "list"],
  liveReleases: ["list", "find", "among", "onChange"],
  manifestParser: ["parse"],
  projects: ["list", "find", "findBySlug"],
  pullRequests: ["closed"],
  releaseFolders: ["entries", "read", "digest", "find", "list"],
  releaseImages: ["find", "list", "archive"],
  runtime: ["find", "list", "usage", "output"],
  serverEngines: ["of", "inUse"],
  serviceNetworks: [],
  sources: [],
  uploadFiles: ["list", "read", "stored"],
  variables: ["list", "reveal"],
  volumes: ["list", "measure"],
  yamlReader: ["read"],
};

/**
 * Wraps the ports of a run: it can change things only while it holds its deployment. After that every change rejects
 * with `LeaseLost`.
 */
export function fencedPorts(ports: EnginePorts, hold: Hold): EnginePorts {
  const own = overrides(ports, hold);
  const fenced = <Name extends keyof EnginePorts>(name: Name) =>
    fencedPort<EnginePorts[Name]>(ports[name], { reads: READS[name], own: own[name] ?? {}, hold });
  const names = Object.keys(READS) as (keyof EnginePorts)[];
  return Object.fromEntries(names.map((name) => [name, fenced(name)])) as unknown as EnginePorts;
}

/**
 * Methods that check the claim in the same statement as the change, and long ones that check it again before their last
 * step.
 */
function overrides(ports: EnginePorts, hold: Hold): Overrides {
  const { claim } = hold;
  const confirm = () => hold.confirm();
  return {
    serviceSets: { write: (id, serviceSet) => orLeaseLost(ports.serviceSets.write(id, serviceSet, claim)) },
    deploymentEvents: { append: (id, events) => orLeaseLost(ports.deploymentEvents.append(id, events, claim)) },
    deployments: {
      async change(id, how) {
        // For its own deployment, the run itself checks the stored version that it changes.
        if (id !== claim.deploymentId) await hold.confirm();
        return ports.deployments.change(id, how);
      },
    },
    imageBuilder: {
      async build(request) {
        await hold.confirm();
        return ports.imageBuilder.build({ ...request, confirm });
      },
    },
    imageRegistry: {
      async fetch(request) {
        await hold.confirm();
        return ports.imageRegistry.fetch({ ...request, confirm });
      },
    },
    keptSources: {
      async keep(id, fill) {
        await hold.confirm();
        await ports.keptSources.keep(id, (folder) => fill(folder).then(confirm));
      },
      async share(from, to) {
        await hold.confirm();
        return ports.keptSources.share(from, to, { confirm });
      },
    },
    liveReleases: { activate: (id, options) => orLeaseLost(ports.liveReleases.activate(id, options)) },
  };
}

interface Fence<Port> {
  readonly reads: readonly (keyof Port)[];
  readonly own: Partial<Port>;
  readonly hold: Hold;
}

function fencedPort<Port extends object>(port: Port, { reads, own, hold }: Fence<Port>): Port {
  return new Proxy(port, {
    get(target, name) {
      const member: unknown = Reflect.get(Object.hasOwn(own, name) ? own : target, name);
      if (typeof member !== "function" || Object.hasOwn(own, name)) return member;
      if (reads.includes(name as keyof Port)) return member.bind(target);
      return async (...given: unknown[]): Promise<unknown> => {
        await hold.confirm();
        return member.apply(target, given);
      };
    },
  });
}

async function orLeaseLost<T>(changing: Promise<T>): Promise<T> {
  try {
    return await changing;
  } catch (error) {
    throw isClaimVoid(error) ? new LeaseLost() : error;
  }
}
