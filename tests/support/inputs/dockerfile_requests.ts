import { recipe } from "../../../domain/detection/image_recipe.ts";
import type { DockerfileRequest } from "../../../domain/image/generated_dockerfile.ts";

/** A project that needs only a shell, so that its Dockerfile can be built on any base image. */
export interface DockerfileScene {
  readonly request: DockerfileRequest;
  readonly files: Readonly<Record<string, string>>;
  /** Its output when it runs. */
  readonly prints: string;
}

/** The value of every secret variable in these scenes. */
export const SCENE_SECRET = "open 'sesame' $HOME";

const WHO = 'echo "$(id -u):$(id -g) $HOME $PORT $(pwd)"';
const ME = "10001:10001 /home/slipway 3000";

/** A request with defaults for everything that `special` leaves out. */
export function plainRequest(special: Partial<DockerfileRequest>): DockerfileRequest {
  return {
    recipe: recipe("debian:bookworm-slim"),
    commands: { install: null, build: null, start: WHO },
    rootDirectory: null,
    port: 3000,
    mounts: true,
    cacheScope: "prj_1",
    secretNames: [],
    environmentDigest: "one",
    baseImages: [],
    ...special,
  };
}

/** Names and values with special characters of shells, glob patterns, JSON and Dockerfiles. */
const ODD = {
  folder: 'it\'s $HOME "q" \\ ü',
  file: "a [0-9]*?{x} <<EOF \\.json",
  value: "a 'b' \"c\" $HOME ${PATH:-x} `id` \\ # <<EOF ü\\",
} as const;

/** One request of every kind that Dockerfiles are generated for. */
export const DOCKERFILE_SCENES: Readonly<Record<string, DockerfileScene>> = {
  "bare program": {
    request: plainRequest({ commands: { install: null, build: null, start: `${WHO}; cat greeting` } }),
    files: { greeting: "ahoy\n" },
    prints: `${ME} /app\nahoy\n`,
  },
  "server with install and build": {
    request: plainRequest({
      recipe: recipe("debian:bookworm-slim", {
        manifests: ["lock", "list"],
        caches: ["/root/.cache/tool"],
        environment: { MODE: "production" },
        keep: ["dist", "installed"],
      }),
      commands: {
        install: "cat lock list > installed && test ! -e source",
        build: "mkdir dist && cat source > dist/result",
        start: `${WHO}; echo $MODE; ls; cat dist/result; touch "$HOME/mine" dist/mine new`,
      },
    }),
    files: { lock: "1\n", list: "2\n", source: "3\n" },
    prints: `${ME} /app\nproduction\ndist\ninstalled\n3\n`,
  },
  "packages and tools": {
    request: plainRequest({
      recipe: recipe("debian:bookworm-slim", {
        buildPackages: ["bc"],
        runPackages: ["tini"],
        setup: [
          { command: "echo build > /usr/local/tool", stages: ["build"] },
          { command: "echo both >> /usr/local/tools", stages: ["build", "run"] },
        ],
        keep: ["sum", "/usr/local/tool"],
      }),
      commands: {
        install: null,
        build: "echo 20+22 | bc > sum",
        start: "cat sum /usr/local/tool*; which tini; which bc || true",
      },
    }),
    files: { source: "" },
    prints: "42\nbuild\nboth\n/usr/bin/tini\n",
  },
  "folder of a workspace": {
    request: plainRequest({
      recipe: recipe("debian:bookworm-slim", {
        // .dockerignore excludes the last two.
        manifests: ["list", "apps/web/list", "apps/api/list", "docs/list", "docs/more"],
        wholeRepository: true,
      }),
      rootDirectory: "./apps/web/",
      commands: {
        install: "cat ../*/list ../../list > installed",
        build: null,
        start: `${WHO}; cat installed; touch x`,
      },
    }),
    files: {
      ".dockerignore": "docs\n",
      list: "root\n",
      "apps/web/list": "web\n",
      "apps/api/list": "api\n",
      "docs/list": "docs\n",
      "docs/more": "docs\n",
    },
    prints: `${ME} /app/apps/web\napi\nweb\nroot\n`,
  },
  "manifests in very many folders": {
    request: plainRequest({
      recipe: recipe("debian:bookworm-slim", {
        manifests: ["list", "gone/list", ...manyFolders().map((folder) => `${folder}/list`)],
      }),
      commands: { install: "cat packages/*/list > installed && ls >> installed", build: null, start: "cat installed" },
    }),
    files: Object.fromEntries(
      ["list", "other", ...manyFolders().map((folder) => `${folder}/list`)].map((path) => [path, "x\n"]),
    ),
    prints: `${"x\n".repeat(40)}installed\nlist\npackages\n`,
  },
  "odd names, values and commands": {
    request: plainRequest({
      recipe: recipe("debian:bookworm-slim", {
        manifests: [`${ODD.folder}/${ODD.file}`, ODD.file, "-dash"],
        environment: { ODD: ODD.value },
        keep: ["installed", "built", `${ODD.folder}/sub`],
        wholeRepository: true,
      }),
      rootDirectory: `${ODD.folder}/sub`,
      commands: {
        install: `# a comment\ncat ../*.json "../../-dash" ../../*.json > /app/installed`,
        build: `cat > ../../built <<'EOF'\nUSER root \\\nRUN ["/bin/sh"]\n"]\nEOF\nprintf '%s\\n' "$ODD" >> ../../built \\\n`,
        start: `pwd\ncat ../../installed ../../built 'file'\n\tprintf '%s' "$ODD" # \\`,
      },
    }),
    files: {
      [`${ODD.folder}/${ODD.file}`]: "inner\n",
      [ODD.file]: "outer\n",
      "-dash": "dash\n",
      [`${ODD.folder}/sub/file`]: "file\n",
    },
    prints: `/app/${ODD.folder}/sub\ninner\ndash\nouter\nUSER root \\\nRUN ["/bin/sh"]\n"]\n${ODD.value}\nfile\n${ODD.value}`,
  },
};

/** Scenes that require a builder with mounts. */
export const SECRET_SCENES: Readonly<Record<string, DockerfileScene>> = {
  "secrets while installing and building": {
    request: plainRequest({
      recipe: recipe("debian:bookworm-slim", { manifests: ["list"], caches: ["/root/.cache/tool"], keep: ["marks"] }),
      secretNames: ["TOKEN"],
      commands: {
        install: 'printf "%s" "$TOKEN" | wc -c > marks',
        build: 'sh -c "test -n \\"\\$TOKEN\\"" && echo "$TOKEN" > /tmp/gone && cat list >> marks',
        start: 'cat marks; echo "<${TOKEN-}>"; ls /run/secrets 2>&1 | wc -l',
      },
    }),
    files: { list: "listed\n" },
    prints: `${SCENE_SECRET.length}\nlisted\n<>\n1\n`,
  },
};

/** The build stage of a static site, from which its files are extracted. */
export const SITE_SCENE: DockerfileScene = {
  request: plainRequest({
    recipe: recipe("debian:bookworm-slim", { manifests: ["list"], wholeRepository: true }),
    rootDirectory: "site",
    commands: { install: "true", build: "mkdir dist && cat page > dist/index.html", start: null },
  }),
  files: { list: "", "site/page": "ahoy\n" },
  prints: "",
};

function manyFolders(): string[] {
  return Array.from({ length: 40 }, (_, number) => `packages/p${String(number).padStart(2, "0")}`);
}
