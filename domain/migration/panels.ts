import type { FoundContainer } from "./inventory.ts";

/** What other software looks after a container, and how that is recognised. */
interface Panel {
  readonly name: string;
  /** A prefix of label names. */
  readonly label?: RegExp;
  readonly image?: RegExp;
  readonly container?: RegExp;
  /** The folder that its compose files are in. */
  readonly folder?: RegExp;
}

const SLIPWAY_LABEL = "slipway.installation";
const FOLDER_LABEL = "com.docker.compose.project.working_dir";

const PANELS: readonly Panel[] = [
  {
    name: "Coolify",
    label: /^coolify\./,
    image: /(?:^|\/)coollabsio\//,
    container: /^coolify(?:-|$)/,
    folder: /^\/data\/coolify\//,
  },
  {
    name: "Dokploy",
    label: /^dokploy\./,
    image: /^dokploy\//,
    container: /^dokploy(?:[-.]|$)/,
    folder: /^\/etc\/dokploy\//,
  },
  { name: "CapRover", image: /^caprover\//, container: /^(?:srv-)?captain-/ },
  {
    name: "Portainer",
    label: /^io\.portainer\./,
    image: /^portainer\//,
    folder: /^\/data\/compose\/\d+/,
  },
  {
    name: "Easypanel",
    label: /^easypanel/,
    image: /^easypanel\//,
    container: /^easypanel/,
    folder: /^\/etc\/easypanel\//,
  },
  { name: "Dokku", label: /^com\.dokku\./, image: /^dokku\//, folder: /^\/home\/dokku\// },
  { name: "Kamal", image: /(?:^|\/)basecamp\/kamal-proxy/, container: /^kamal-proxy$/ },
  { name: "Cosmos", label: /^cosmos-/, image: /(?:^|\/)azukaar\/cosmos-server/ },
  { name: "CasaOS", folder: /^\/var\/lib\/casaos\// },
  { name: "Runtipi", label: /^runtipi\./, image: /(?:^|\/)runtipi\// },
  { name: "Umbrel", image: /^getumbrel\//, folder: /\/umbrel\/app-data\// },
  { name: "1Panel", folder: /^\/opt\/1panel\// },
  { name: "Unraid", label: /^net\.unraid\.docker\.managed$/ },
  { name: "Cloudron", label: /^isCloudronManaged$/, image: /^(?:registry\.docker\.com\/)?cloudron\// },
  { name: "Docker Swarm", label: /^com\.docker\.swarm\.task/ },
  { name: "Kubernetes", label: /^io\.kubernetes\.pod\./ },
  { name: "Nomad", label: /^com\.hashicorp\.nomad\./ },
];

/** Returns whether a container belongs to an installation of Slipway. */
export function isSlipways({ labels }: Pick<FoundContainer, "labels">): boolean {
  return labels[SLIPWAY_LABEL] !== undefined;
}

/** Returns the name of the other software that looks after a container; `null` if there seems to be none. */
export function managedBy({ image, labels, name }: Pick<FoundContainer, "image" | "labels" | "name">): string | null {
  const reference = image.replace(/^(?:docker\.io|index\.docker\.io)\//, "");
  const folder = labels[FOLDER_LABEL] ?? "";
  const panel = PANELS.find(
    (each) =>
      each.image?.test(reference) ||
      each.container?.test(name) ||
      each.folder?.test(folder) ||
      (each.label && Object.keys(labels).some((label) => each.label!.test(label))),
  );
  return panel?.name ?? null;
}
