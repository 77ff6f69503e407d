import { type AssetPackages, assetPackages } from "../node/asset_packages.ts";
import { chosenVersion, type ChosenVersion } from "../../chosen_version.ts";
import type { DetectedVariable } from "../../detection.ts";
import type { Ecosystem, Finding } from "../../ecosystem.ts";
import { type JsonObject, jsonObject, memberOf, objectOf, textOf } from "../../text/json_text.ts";
import { NODE_VERSION_FILES } from "../node/versions.ts";
import { phpImage } from "./image.ts";
import type { ProjectFolder } from "../../project_folder.ts";
import { TOOL_VERSION_FILES, toolVersion, versionFile } from "../../tool_versions.ts";
import { composerRange } from "../../version_range.ts";

interface PhpFramework {
  readonly name: string;
  /** Any of these packages identifies the framework. */
  readonly packages: readonly string[];
  /** The start command as a process, instead of PHP's built-in server on the document root. */
  readonly start?: string;
  /** Extensions that most of its projects use but few declare. */
  readonly extensions: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env?: readonly DetectedVariable[];
}

const DATABASES = ["pdo_mysql", "pdo_pgsql"];
const FRAMEWORKS: readonly PhpFramework[] = [
  {
    name: "laravel",
    packages: ["laravel/framework"],
    start: "PHP_CLI_SERVER_WORKERS=4 php artisan serve --host=0.0.0.0 --port=$PORT --no-reload",
    extensions: [...DATABASES, "bcmath", "pcntl", "zip"],
    env: [{ key: "APP_KEY", required: true }],
  },
  {
    name: "symfony",
    packages: ["symfony/framework-bundle"],
    extensions: [...DATABASES, "intl", "zip"],
    environment: { APP_ENV: "prod" },
    env: [{ key: "APP_SECRET", required: true }],
  },
  {
    name: "lumen",
    packages: ["laravel/lumen-framework"],
    extensions: DATABASES,
    env: [{ key: "APP_KEY", required: true }],
  },
  { name: "slim", packages: ["slim/slim"], extensions: [] },
  { name: "codeigniter", packages: ["codeigniter4/framework"], extensions: ["intl", "mysqli"] },
  { name: "cakephp", packages: ["cakephp/cakephp"], extensions: [...DATABASES, "intl"] },
  { name: "yii", packages: ["yiisoft/yii2"], extensions: [...DATABASES, "intl"] },
  { name: "drupal", packages: ["drupal/core-recommended", "drupal/core"], extensions: [...DATABASES, "gd", "zip"] },
];
const KNOWN = { lines: ["8.5", "8.4", "8.3", "8.2", "8.1", "8.0", "7.4", "7.3", "7.2"], preset: "8.4" };
const PAGES = ["public", "web", "webroot", "www", "htdocs", "."];
const INSTALL = "composer install --no-dev --no-interaction --prefer-dist --no-scripts --no-autoloader";
const UNREADABLE = "Cannot read composer.json: it is not a JSON object. Correct it, or set the commands yourself";
const BUILT_IN_SERVER =
  "Cannot use a production server for PHP here: as a process it runs on PHP's built-in server, which is meant for development. Deploy it with Docker, where it runs on Apache";
const ONLY_BUILT_IN_SERVER =
  "Cannot use a production server for PHP: there is no index.php for one to serve, so PHP's built-in server is used, which is meant for development. Add a Dockerfile";
const NO_START =
  "Cannot tell how to start the project: there is no index.php here or in public/. Set the start command";

/** PHP projects: those with Composer, and plain pages. */
export const php: Ecosystem = {
  manifests: ["composer.json", ".php-version", "index.php", ...NODE_VERSION_FILES, ...TOOL_VERSION_FILES],
  detect(folder) {
    const pages = PAGES.find((name) => folder.has(name === "." ? "index.php" : `${name}/index.php`));
    if (!folder.has("composer.json")) {
      return pages === undefined || runsNode(folder) ? undefined : describe(folder, undefined, pages);
    }
    const manifest = objectOf(folder.data("composer.json"));
    if (manifest === undefined)
      return { language: "php", packageManager: "composer", warnings: [UNREADABLE], broken: !runsNode(folder) };
    return describe(folder, manifest, pages);
  },
};

/** Returns whether a Node program is started here, so that PHP pages beside it are not the project. */
function runsNode(folder: ProjectFolder): boolean {
  return textOf(memberOf(jsonObject(folder.text("package.json") ?? ""), "scripts"), "start") !== undefined;
}

function describe(folder: ProjectFolder, manifest: JsonObject | undefined, pages: string | undefined): Finding {
  const required = memberOf(manifest, "require") ?? {};
  const framework = FRAMEWORKS.find(({ packages }) => packages.some((name) => Object.hasOwn(required, name)));
  const assets = manifest === undefined ? undefined : assetPackages(folder);
  const { version, warnings } = versionOf(folder, manifest);
  const line = version.split(".").slice(0, 2).join(".");
  const startCommand = startOf(folder, framework, pages);
  const usesComposer = manifest !== undefined;
  const image = phpImage({
    version: line,
    extensions: [...extensionsOf(folder, required), ...(framework?.extensions ?? [])],
    usesComposer,
    assets,
    manifests: manifestsOf(folder, manifest, assets),
    environment: framework?.environment ?? {},
    pages,
  });
  return {
    language: "php",
    languageVersion: line,
    framework: framework?.name ?? (folder.has("wp-load.php") ? "wordpress" : null),
    packageManager: usesComposer ? "composer" : null,
    installCommand: joined(usesComposer ? INSTALL : undefined, assets?.install),
    buildCommand: joined(...(usesComposer ? loading(manifest, framework) : []), assets?.build),
    startCommand: startCommand ?? null,
    port: 8000,
    image,
    env: variables(framework, required),
    warnings: [
      ...warnings,
      ...(startCommand === undefined ? [NO_START] : pages === undefined ? [ONLY_BUILT_IN_SERVER] : []),
      ...exposed(pages, usesComposer),
    ],
    processWarnings: startCommand === undefined || pages === undefined ? [] : [BUILT_IN_SERVER],
  };
}

function startOf(
  folder: ProjectFolder,
  framework: PhpFramework | undefined,
  pages: string | undefined,
): string | undefined {
  if (framework?.start !== undefined && folder.has("artisan")) return framework.start;
  if (pages === undefined) return undefined;
  const given = Object.entries(framework?.environment ?? {}).map(([name, value]) => `${name}="\${${name}:-${value}}" `);
  const errors = "-d display_errors=0 -d log_errors=1";
  return `${given.join("")}PHP_CLI_SERVER_WORKERS=4 php ${errors} -S 0.0.0.0:$PORT -t ${pages}`;
}

/** Commands that need all files: generate the autoloader, and run the framework's own preparation. */
function loading(manifest: JsonObject, framework: PhpFramework | undefined): string[] {
  const load = "composer dump-autoload --no-dev --no-interaction --optimize";
  const isReady = framework?.name !== "symfony" || memberOf(manifest, "scripts")?.["post-install-cmd"] === undefined;
  return isReady ? [load] : [load, "APP_ENV=prod composer run-script --no-dev --no-interaction post-install-cmd"];
}

function joined(...commands: readonly (string | undefined)[]): string | null {
  const given = commands.filter((command) => command !== undefined);
  return given.length === 0 ? null : given.join(" && ");
}

function manifestsOf(
  folder: ProjectFolder,
  manifest: JsonObject | undefined,
  assets: AssetPackages | undefined,
): string[] {
  // Packages in folders of the project are sources, so installing needs all files.
  if (manifest === undefined || JSON.stringify(manifest["repositories"] ?? "").includes('"path"')) return [];
  const read = ["composer.json", "composer.lock", "symfony.lock", "auth.json"].filter((path) => folder.has(path));
  return [...read, ...(assets?.manifests ?? [])];
}

/** The extensions that composer.json names, and those that plain pages visibly use. */
function extensionsOf(folder: ProjectFolder, required: JsonObject): string[] {
  const named = Object.keys(required).flatMap((name) => /^ext-([a-z0-9_-]{1,50})$/.exec(name)?.[1] ?? []);
  const page = folder.text("index.php") ?? "";
  return [
    ...named.map((name) => name.replaceAll("-", "_")),
    ...(/\bmysqli(?:_connect)?\(/.test(page) ? ["mysqli"] : []),
    ...(/\bnew \\?PDO\(["']mysql:/.test(page) ? ["pdo_mysql"] : []),
    ...(folder.has("wp-load.php") ? ["mysqli", "exif", "gd", "zip"] : []),
  ];
}

function versionOf(folder: ProjectFolder, manifest: JsonObject | undefined): ChosenVersion {
  const platform = textOf(memberOf(memberOf(manifest, "config"), "platform"), "php");
  const range = textOf(memberOf(manifest, "require"), "php");
  return chosenVersion(
    "PHP",
    [
      { from: "config.platform of composer.json", wanted: platform },
      { from: ".php-version", wanted: versionFile(folder, ".php-version") },
      { from: "mise.toml or .tool-versions", wanted: toolVersion(folder, ["php"]) },
      { from: "composer.json", wanted: range === undefined ? undefined : composerRange(range) },
    ],
    KNOWN,
  );
}

function variables(framework: PhpFramework | undefined, required: JsonObject): readonly DetectedVariable[] {
  const known = framework?.env ?? [];
  const usesDatabase = ["doctrine/doctrine-bundle", "symfony/orm-pack"].some((name) => Object.hasOwn(required, name));
  return usesDatabase ? [...known, { key: "DATABASE_URL", required: true }] : known;
}

/** Warns that files beside an index.php at the root are exposed to visitors. */
function exposed(pages: string | undefined, usesComposer: boolean): string[] {
  if (pages !== "." || !usesComposer) return [];
  return ["Cannot keep composer.json and other files from visitors: index.php is beside them. Move it to public/"];
}
