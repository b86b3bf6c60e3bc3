import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { BuildFault } from '../build-fault.ts'
import type { BuildPlugin, MillraceConfig } from '../define-config.ts'

/** Names of the config, the first one that is there. */
export const CONFIG_FILES = ['millrace.config.ts', 'millrace.config.js', 'millrace.config.mjs'] as const

/** A config that Node cannot run: a syntax error, or an import of a package that is not installed. */
export class ConfigLoadError extends BuildFault {}

const folder = z.string().min(1, 'names no folder')
const plugins = z.array(
  z.custom<BuildPlugin>((value) => isPlugin(value), 'is not an esbuild plugin: it needs a name and a setup function'),
)

/** Of esbuild, which ends the process with a stack for any other. */
const TARGET =
  /^(?:es(?:5|6|next|20\d\d)|(?:chrome|deno|edge|firefox|hermes|ie|ios|node|opera|rhino|safari)\d+(?:\.\d+){0,2})$/i

const CONFIG = z.strictObject({
  app: folder.optional(),
  out: folder.optional(),
  basePath: z
    .string()
    .regex(/^(?:\/(?!\.{1,2}(?:\/|$))[\w.-]+)*$/, 'starts with a slash and ends without one, like /shop or /a/b')
    .optional(),
  plugins: z.strictObject({ browser: plugins.optional(), server: plugins.optional() }).optional(),
  alias: z.record(z.string(), z.string()).optional(),
  define: z
    .record(
      z.string().regex(/^(?!process\.env\b)[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*$/, 'is not a name, such as EDITION'),
      z.union([z.string(), z.number(), z.boolean(), z.null()]),
    )
    .optional(),
  targets: z
    .array(z.string().regex(TARGET, "is not a target of esbuild, such as 'chrome120' or 'es2022'"))
    .min(1, 'names no browser')
    .optional(),
})

/**
 * Reads the config of a project. Node strips its types.
 * @param root the project's folder.
 * @returns an empty config if there is none.
 * @throws {ConfigLoadError} in one line, for a config that cannot be loaded.
 * @throws {BuildFault} in one line, for an unknown key, or a value of a wrong kind.
 */
export async function loadConfig(root: string): Promise<MillraceConfig> {
  const file = CONFIG_FILES.find((name) => existsSync(join(root, name)))
  if (file === undefined) return {}
  const loaded: { readonly default?: unknown } = await import(pathToFileURL(join(root, file)).href).catch(
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      const [, missing] = /^Cannot find package '([^']+)'/.exec(reason) ?? []
      throw new ConfigLoadError(
        missing === undefined
          ? `${file} could not be loaded: ${reason}`
          : `${file} imports ${missing}, which is not installed. Install it: npm install --save-dev ${missing}`,
      )
    },
  )
  if (loaded.default === undefined) {
    throw new BuildFault(`${file} has no default export: write export default defineConfig({ … }).`)
  }
  const parsed = CONFIG.safeParse(loaded.default)
  if (!parsed.success) throw new BuildFault(`${file}: ${parsed.error.issues.map(faultText).join('; ')}`)
  return loaded.default as MillraceConfig
}

function faultText(issue: z.core.$ZodIssue): string {
  const place = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const keys = Object.keys(place === '' ? CONFIG.shape : { browser: 0, server: 0 })
    return `unknown key ${issue.keys.map((key) => `'${key}'`).join(', ')}${place && ` in ${place}`}; there are ${keys.join(', ')}`
  }
  return `${place || 'the config'}: ${issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message}`
}

function isPlugin(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const { name, setup } = value as Partial<BuildPlugin>
  return typeof name === 'string' && typeof setup === 'function'
}
