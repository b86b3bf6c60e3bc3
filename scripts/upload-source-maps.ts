/**
 * `node scripts/upload-source-maps.ts [--out <build>] [--write <folder>]`: hands the source maps of a build to the error
 * service, so that it shows the stacks of browsers in the sources. Where to stands in the variables that the service's own
 * command reads: SENTRY_AUTH_TOKEN, SENTRY_ORG, SENTRY_PROJECT, and SENTRY_URL for a service of your own. `--write` sends
 * nothing and leaves scripts and maps in a folder, with the comments by which other tools know them.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { AssetManifest } from '../src/server/assets/manifest.ts'
import { PROJECT_ROOT } from './build/build-options.ts'
import { artifactBundle, readMappedScripts, type MappedScript } from './source-maps/artifact-bundle.ts'
import { uploadBundle, UploadError } from './source-maps/upload-bundle.ts'

const SERVICE = 'https://sentry.io'

const { values } = parseArgs({ options: { out: { type: 'string' }, write: { type: 'string' } } })
const out = values.out === undefined ? join(PROJECT_ROOT, 'dist') : resolve(values.out)

try {
  const { buildId } = await readManifest()
  const scripts = await readMappedScripts(out)
  if (values.write !== undefined) await writeTo(resolve(values.write), scripts)
  else await upload(scripts, buildId)
} catch (thrown) {
  if (!(thrown instanceof UploadError)) throw thrown
  console.error(thrown.message)
  process.exitCode = 1
}

async function upload(scripts: readonly MappedScript[], buildId: string): Promise<void> {
  const { SENTRY_URL: url = SERVICE, SENTRY_RELEASE: release = buildId } = process.env
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    throw new UploadError(`SENTRY_URL is no URL of a service: '${url}'. For example ${SERVICE}`)
  }
  const target = {
    url,
    release,
    org: required('SENTRY_ORG', 'the slug of your organization, like mills'),
    project: required('SENTRY_PROJECT', 'the slug of your project, like website'),
    token: required('SENTRY_AUTH_TOKEN', 'a token that may write releases, as the service makes it'),
  }
  const bundle = artifactBundle(scripts, target)
  await uploadBundle(bundle, target, { fetch, wait: delay })
  const kilobytes = Math.ceil(bundle.length / 1_000)
  console.log(`${url} has the maps of ${scripts.length} scripts, ${kilobytes} kB, of build ${buildId}.`)
}

async function writeTo(folder: string, scripts: readonly MappedScript[]): Promise<void> {
  await mkdir(folder, { recursive: true })
  for (const { name, script, map } of scripts) {
    await writeFile(join(folder, name), script)
    await writeFile(join(folder, `${name}.map`), map)
  }
  console.log(`${folder} has ${scripts.length} scripts and their maps.`)
}

async function readManifest(): Promise<AssetManifest> {
  const text = await readFile(join(out, 'manifest.json'), 'utf8').catch(() => undefined)
  if (text === undefined) throw new UploadError(`${out} holds no build: npm run build makes one.`)
  return JSON.parse(text) as AssetManifest
}

function required(name: string, what: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new UploadError(`${name} is not set: it is ${what}.`)
  return value
}
