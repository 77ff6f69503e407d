import { FIXED_ADDRESS, HAND_RUN, ODD_VALUE, WEB_COMMAND } from "../apps/hand_run_server.ts";
import { type ComposeContainer, composeLabels } from "../peers/compose_container.ts";

const LOCAL =
  "its image tiny:latest exists on this server only, no registry has it. It can be deployed on this server, not elsewhere";
const stopped = (name: string, state = "was never started") =>
  `${name} ${state}. Adopting does not start it, the first deployment does`;

const PLAIN = {
  image: "tiny:latest",
  imageId: "<tiny>",
  build: null,
  command: ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done"],
  entrypoint: [],
  ports: [],
  environment: [],
  volumes: [],
  dependsOn: [],
  restart: "no",
  healthcheck: null,
  state: "created",
  drift: [],
  managedBy: null,
};

/** A service of a compose project that nothing is unusual about. */
function composed(container: ComposeContainer, containerIds: readonly string[]) {
  const { project, service: name } = container;
  return {
    ...PLAIN,
    key: `${project}/${name}`,
    name,
    source: "compose",
    project,
    containerIds,
    networks: [`${project}_default`],
    labels: shownLabels(container),
  };
}

/** The hash of the configuration looks like a secret. */
function shownLabels(container: ComposeContainer): Readonly<Record<string, string>> {
  return { ...composeLabels(container), "com.docker.compose.config-hash": "***" };
}

function visible(values: Readonly<Record<string, string>>) {
  return Object.entries(values).map(([key, value]) => ({ key, secret: false, value }));
}

const SHOP_SERVICES = [
  {
    ...composed(HAND_RUN.db, ["<shop-db-1>"]),
    state: "running",
    environment: [{ key: "DB_PASSWORD", secret: true, value: null }],
    volumes: [
      { type: "volume", source: "shop_data", target: "/data", readOnly: false },
      { type: "bind", source: "/srv/shop/db/init", target: "/init", readOnly: true },
    ],
  },
  {
    ...composed({ ...HAND_RUN.db, service: "ghost" }, []),
    image: "",
    imageId: "",
    command: [],
    networks: [],
    restart: "",
    labels: {},
    state: "absent",
    drift: ["it has no container, although the compose files declare it"],
  },
  {
    ...composed(HAND_RUN.mailer, ["<shop-mailer-1>"]),
    build: "/srv/shop/mailer",
    volumes: [{ type: "tmpfs", source: "", target: "/scratch", readOnly: false }],
  },
  {
    ...composed(HAND_RUN.web, ["<shop-web-1>"]),
    command: WEB_COMMAND,
    ports: ["8080:8080"],
    environment: visible({ GREETING: "costs $5", PRICE: "5$", STAGE: "production" }),
    dependsOn: ["db"],
    restart: "always",
    state: "running",
  },
  {
    ...composed(HAND_RUN.worker, ["<shop-worker-1>", "<shop-worker-2>"]),
    environment: visible({ QUEUE: "fast" }),
    dependsOn: ["db"],
    state: "partial",
    drift: ["environment: other values in the container: QUEUE"],
  },
];

const LOOSE = [
  {
    ...PLAIN,
    key: "hand",
    name: "hand",
    source: "container",
    project: null,
    containerIds: ["<hand>"],
    ports: ["127.0.0.1:5353:53/udp", "9000"],
    environment: [{ key: "API_KEY", secret: true, value: null }, ...visible({ EMPTY: "", ODD: ODD_VALUE })],
    volumes: [
      { type: "volume", source: "<unnamed>", target: "/cache", readOnly: false },
      { type: "volume", source: "notes", target: "/notes", readOnly: true },
    ],
    networks: ["fixed"],
    labels: { note: 'it\'s "quoted"\nand long' },
  },
  {
    ...composed(HAND_RUN.task, ["<shop-web-run-1f>"]),
    key: "shop-web-run-1f",
    name: "shop-web-run-1f",
    source: "container",
    project: null,
    drift: ["it was started by hand for one task"],
  },
];

/**
 * What a scan of the server that `runByHand()` makes shows to the user `worker`. The ids of containers are their names,
 * `<tiny>` is the id of the image, and `<unnamed>` the volume that the engine named.
 */
export const HAND_RUN_STACK = {
  composeProjects: [
    {
      name: "blog",
      configFiles: ["/srv/blog/compose.yaml"],
      workingDir: "/srv/blog",
      services: [{ ...composed(HAND_RUN.blog, ["<blog-front>"]), restart: "on-failure:3" }],
    },
    {
      name: "locked",
      configFiles: ["/srv/locked/compose.yaml"],
      workingDir: "/srv/locked",
      services: [
        {
          ...composed(HAND_RUN.keeper, ["<locked-keeper-1>"]),
          command: ["serve", "--token", "***"],
          healthcheck: {
            test: ["CMD-SHELL", "true"],
            intervalMs: 90_000,
            timeoutMs: null,
            startPeriodMs: null,
            retries: 4,
          },
        },
      ],
    },
    {
      name: "shop",
      configFiles: ["/srv/shop/compose.yaml", "/srv/shop/compose.prod.yaml"],
      workingDir: "/srv/shop",
      services: SHOP_SERVICES,
    },
  ],
  containers: LOOSE,
  volumes: [
    { name: "<unnamed>", driver: "local", usedBy: ["hand"] },
    { name: "notes", driver: "local", usedBy: ["hand"] },
    { name: "shop_data", driver: "local", usedBy: ["shop/db"] },
  ],
  networks: [
    { name: "blog_default", driver: "bridge" },
    { name: "bridge", driver: "bridge" },
    { name: "fixed", driver: "bridge" },
    { name: "host", driver: "host" },
    { name: "locked_default", driver: "bridge" },
    { name: "none", driver: "null" },
    { name: "shop_default", driver: "bridge" },
  ],
  warnings: [
    "blog: cannot compare it with /srv/blog/compose.yaml: it is gone",
    "locked: cannot compare it with /srv/locked/compose.yaml: the SSH user may not read it",
    `blog/web: ${stopped("blog-front")}`,
    `blog/web: ${LOCAL}`,
    `locked/keeper: ${stopped("locked-keeper-1")}`,
    `locked/keeper: ${LOCAL}`,
    `shop/db: ${LOCAL}`,
    "shop/ghost: it has no container to adopt. Start it on the server first, then scan again",
    `shop/mailer: ${stopped("shop-mailer-1")}`,
    `shop/mailer: ${LOCAL}`,
    `shop/web: ${LOCAL}`,
    "shop/worker: it runs 2 times. Each container becomes a service of its own",
    `shop/worker: ${stopped("shop-worker-2", "has stopped")}`,
    `shop/worker: ${LOCAL}`,
    `hand: ${stopped("hand")}`,
    `hand: ${LOCAL}`,
    `hand: it has fixed addresses (${FIXED_ADDRESS}), which are kept`,
    "hand: it keeps data in a volume without a name, at /cache. That volume is kept by its id",
    "hand: it may do more than an ordinary container (capabilities, devices). Adopt it only if you trust it",
    `shop-web-run-1f: ${stopped("shop-web-run-1f")}`,
    `shop-web-run-1f: ${LOCAL}`,
  ],
  managed: [
    {
      key: "panel",
      name: "panel",
      containerId: "<panel>",
      state: "created",
      image: "tiny:latest",
      projectId: null,
      service: null,
    },
  ],
};
