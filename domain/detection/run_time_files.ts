import type { ProjectFolder } from "./project_folder.ts";

const FOLDERS = [
  "assets",
  "config",
  "configs",
  "configuration",
  "data",
  "dist",
  "i18n",
  "locales",
  "migrations",
  "public",
  "resources",
  "static",
  "templates",
  "translations",
  "ui",
  "views",
  "web",
  "www",
];
const FILES =
  /^(?:(?:config|settings|app|Rocket|log4rs|configuration)\.(?:ya?ml|toml|json)|[\w-]+\.(?:html|tmpl|gohtml))$/;

/**
 * The files that a compiled program usually reads at run time, if they exist: templates, pages, migrations,
 * configuration.
 */
export function runTimeFiles(folder: ProjectFolder): string[] {
  return [...FOLDERS.filter((name) => folder.hasFolder(name)), ...folder.names().filter((name) => FILES.test(name))];
}
