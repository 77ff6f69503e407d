import { t } from "elysia";
import type { ContainerState, FoundMount } from "../../domain/migration/inventory.ts";
import { ServiceSchema } from "../projects/service_schemas.ts";
import { ProjectView } from "../projects/schemas.ts";
import { about, described, done, explained, integer, nullable, object, text, Time } from "../schema.ts";

const serverId = text(100, { description: "ID of the server", examples: ["srv_01m7edka8326kz9mv55sbbg868"] });

export const ScanBody = object({ serverId });

export const AdoptBody = object({
  serverId,
  projectName: text(80, { description: "Name of the new project", examples: ["Shop"] }),
  serviceNames: t.Array(text(300), {
    minItems: 1,
    maxItems: 200,
    description: "Services to adopt: keys from the scan, or names that only one of them has",
    examples: [["shop/web", "shop/db"]],
  }),
});

const texts = t.Array(t.String());

const MOUNT: Readonly<Record<FoundMount["type"], string>> = {
  volume: "A volume of the engine",
  bind: "A path of the server",
  tmpfs: "Memory, empty at every start",
  other: "Something unusual, such as a pipe or a part of an image",
};

const STATE: Readonly<Record<ContainerState, string>> = {
  created: "Created, but never started",
  running: "Running",
  paused: "Suspended",
  restarting: "Waiting for its next start after it ended",
  removing: "Being removed",
  exited: "Stopped or ended",
  dead: "Broken: the engine could not remove it",
  unknown: "In a state that is not known here",
};

const Variable = object(
  described(
    { key: t.String(), secret: t.Boolean(), value: nullable(t.String()) },
    {
      key: "Name of the variable",
      secret: "Whether it looks like a secret",
      value: "Its value; null for a secret",
    },
  ),
  { title: "FoundVariable" },
);

const Mount = object(
  described(
    {
      type: explained(MOUNT),
      source: t.String(),
      target: t.String(),
      readOnly: t.Boolean(),
    },
    {
      type: "What is mounted",
      source: "Name of the volume, or path on the server",
      target: "Path in the container",
      readOnly: "Whether the container can only read it",
    },
  ),
  { title: "FoundMount" },
);

const Health = object(
  described(
    {
      test: texts,
      intervalMs: nullable(t.Number()),
      timeoutMs: nullable(t.Number()),
      startPeriodMs: nullable(t.Number()),
      retries: nullable(integer()),
    },
    {
      test: "CMD or CMD-SHELL and the command, or NONE",
      intervalMs: "Time between checks in milliseconds; null for the default",
      timeoutMs: "Time limit of a check in milliseconds; null for the default",
      startPeriodMs: "Time in which failed checks do not count, in milliseconds; null for the default",
      retries: "Failed checks in a row that make it unhealthy; null for the default",
    },
  ),
  { title: "FoundHealthcheck" },
);

export const FoundServiceView = object(
  described(
    {
      key: t.String({ examples: ["shop/web"] }),
      name: t.String({ examples: ["web"] }),
      source: explained({ compose: "A service of a compose project", container: "A container on its own" }),
      project: nullable(t.String({ examples: ["shop"] })),
      containerIds: texts,
      image: t.String({ examples: ["nginx:1.27"] }),
      imageId: t.String(),
      build: nullable(t.String()),
      command: texts,
      entrypoint: texts,
      ports: t.Array(t.String({ examples: ["8080:80"] })),
      environment: t.Array(Variable),
      volumes: t.Array(Mount),
      networks: texts,
      dependsOn: texts,
      restart: t.String({ examples: ["unless-stopped"] }),
      healthcheck: nullable(Health),
      state: explained({
        ...STATE,
        partial: "Some of its containers run, others do not",
        absent: "Declared in a compose file, but without a container",
      }),
      labels: t.Record(t.String(), t.String()),
      drift: texts,
      managedBy: nullable(t.String({ examples: ["Coolify"] })),
    },
    {
      key: "Identifies the service on the server, to adopt it",
      name: "Name of the service or container",
      source: "Where it comes from",
      project: "Name of its compose project; null for a container on its own",
      containerIds: "IDs of its containers; several if it is scaled",
      image: "Image as it was named when the container was created",
      imageId: "ID of the image that runs",
      build: "Folder on the server that its image is built from; null if it is not built",
      command: "Command, with what looks like a secret replaced by ***",
      entrypoint: "Entrypoint, with what looks like a secret replaced by ***",
      ports: "Ports as in compose files; those without a host port are only declared",
      environment: "Variables that the image does not set itself",
      volumes: "What is mounted into it",
      networks: "Names of its networks",
      dependsOn: "Services of its compose project that it waits for",
      restart: "Restart policy",
      healthcheck: "Health check; null if it has none",
      state: "State of its containers; partial if only some run, absent if it is declared and has none",
      labels: "Labels that the image does not set itself",
      drift: "Differences between what runs and the compose files, one sentence each",
      managedBy: "Other software that manages it; null if there seems to be none",
    },
  ),
  { title: "FoundService" },
);

const Managed = object(
  described(
    {
      key: t.String(),
      name: t.String(),
      containerId: t.String(),
      state: explained(STATE),
      image: t.String(),
      projectId: nullable(t.String()),
      service: nullable(t.String()),
    },
    {
      key: "Key of its service on the server",
      name: "Name of the container",
      containerId: "ID of the container",
      state: "State of the container",
      image: "Image of the container",
      projectId: "ID of the project that adopted it; null if Slipway started it",
      service: "Service of that project; null if Slipway started it",
    },
  ),
  { title: "ManagedContainer" },
);

export const StackView = object(
  described(
    {
      serverId: t.String(),
      scannedAt: Time,
      runtime: object(
        described(
          { name: t.String({ examples: ["docker"] }), version: t.String() },
          { name: "Engine", version: "Version" },
        ),
      ),
      composeProjects: t.Array(
        object(
          described(
            {
              name: t.String(),
              configFiles: texts,
              workingDir: nullable(t.String()),
              services: t.Array(FoundServiceView),
            },
            {
              name: "Name of the compose project",
              configFiles: "Its compose files on the server, in the order in which they are merged",
              workingDir: "Its folder on the server; null if it is not known",
              services: "Its services",
            },
          ),
          { title: "ComposeProject" },
        ),
      ),
      containers: t.Array(FoundServiceView),
      volumes: t.Array(
        object(
          described(
            { name: t.String(), driver: t.String(), usedBy: texts },
            { name: "Name", driver: "Volume driver", usedBy: "Keys of the services that mount it" },
          ),
          { title: "FoundVolume" },
        ),
      ),
      networks: t.Array(
        object(described({ name: t.String(), driver: t.String() }, { name: "Name", driver: "Network driver" }), {
          title: "FoundNetwork",
        }),
      ),
      warnings: texts,
      managed: t.Array(Managed),
    },
    {
      serverId: "ID of the server",
      scannedAt: "Time of the scan",
      runtime: "Container engine of the server",
      composeProjects: "Compose projects, by name",
      containers: "Containers of no compose project, by name",
      volumes: "Volumes",
      networks: "Networks",
      warnings: "What to know before adopting, one sentence each",
      managed: "Containers that Slipway runs already",
    },
  ),
  { title: "Stack" },
);

export const Scanned = done({ stack: about("What runs on the server", StackView) });

export const Adopted = done(
  described(
    {
      project_id: t.String(),
      project: ProjectView,
      services: t.Array(ServiceSchema),
      adopted: t.Array(
        object(
          described(
            { service: t.String(), key: t.String(), containerId: t.String(), containerName: t.String() },
            {
              service: "Name of the service in the project",
              key: "Key of the service on the server",
              containerId: "ID of the container that it was adopted from",
              containerName: "Name of that container",
            },
          ),
          { title: "AdoptedService" },
        ),
      ),
      warnings: texts,
    },
    {
      project_id: "ID of the created project",
      project: "The created project",
      services: "Definitions of its services",
      adopted: "The containers that became services",
      warnings: "What could not be taken over exactly, one sentence each",
    },
  ),
);
