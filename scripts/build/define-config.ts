/** Public interface for `millrace.config.ts`. */

/** An esbuild plugin, by its shape: a config needs no types of esbuild. */
export interface BuildPlugin {
  readonly name: string
  setup(build: never): void | Promise<void>
}

/** What `millrace.config.ts` exports by default. */
export interface MillraceConfig {
  /** The application's folder, relative to the config. Default: `src/app`. */
  readonly app?: string | undefined
  /** The folder of the build, relative to the config. Default: `dist`. */
  readonly out?: string | undefined
  /** Where the application is mounted on its host: `/shop`, `/a/b`. Default: `''`, the root. */
  readonly basePath?: string | undefined
  /** esbuild plugins, the same in development and in a production build. Default: none. */
  readonly plugins?:
    | {
        /** For the browser's scripts and all stylesheets. */
        readonly browser?: readonly BuildPlugin[] | undefined
        /** For the server's scripts. */
        readonly server?: readonly BuildPlugin[] | undefined
      }
    | undefined
  /** Packages that are imported in place of others, and names for files: `{ '@ui': './src/ui/index.ts' }`. Default: none. */
  readonly alias?: Readonly<Record<string, string>> | undefined
  /** Constants by the name that sources read: `{ EDITION: 'pro' }`. They reach browsers. Default: none. */
  readonly define?: Readonly<Record<string, string | number | boolean | null>> | undefined
  /** The oldest browsers that scripts and stylesheets are compiled for, as esbuild names them: `['chrome120', 'safari17']`. */
  readonly targets?: readonly string[] | undefined
}

/** Gives `millrace.config.ts` its types: `export default defineConfig({ … })`. */
export function defineConfig(config: MillraceConfig): MillraceConfig {
  return config
}
